// DeleteGroups (42): groups without members are forgotten, with their offsets. Version 3 says why one was not.

import { DeleteGroupsRequest, DeleteGroupsResponse, errorCodes, ProtocolError } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function deleteGroupsHandler(groups: GroupCoordinator): Handler<typeof DeleteGroupsRequest, typeof DeleteGroupsResponse> {
  return defineHandler(DeleteGroupsRequest, DeleteGroupsResponse, {
    async handle(request) {
      const results = await Promise.all(
        [...new Set(request.groupsNames)].map(async (groupId) => {
          try {
            await groups.delete(groupId);
            return { groupId, errorCode: errorCodes.NONE };
          } catch (error) {
            if (!(error instanceof ProtocolError)) throw error;
            return { groupId, errorCode: error.code, errorMessage: error.message };
          }
        }),
      );
      return { results };
    },
    errorResponse: (request, error) => ({
      results: request.groupsNames.map((groupId) => ({ groupId, errorCode: error.code, errorMessage: error.message })),
    }),
  });
}
