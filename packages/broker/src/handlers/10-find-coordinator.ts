// FindCoordinator (10): which broker looks after a group or a transactional id. This broker has no coordinators yet and says so:
// clients may try again later. From version 4 on several keys are asked for at once.

import { errorCodes, FindCoordinatorRequest, FindCoordinatorResponse, ProtocolError } from '@odradek/protocol';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function findCoordinatorHandler(): Handler<typeof FindCoordinatorRequest, typeof FindCoordinatorResponse> {
  return defineHandler(FindCoordinatorRequest, FindCoordinatorResponse, {
    handle() {
      throw new ProtocolError(errorCodes.COORDINATOR_NOT_AVAILABLE);
    },
    errorResponse(request, { code, message }, { apiVersion }) {
      const nowhere = { nodeId: -1, host: '', port: -1, errorCode: code, errorMessage: message };
      if (apiVersion < 4) return nowhere;
      return { coordinators: request.coordinatorKeys.map((key) => ({ key, ...nowhere })) };
    },
  });
}
