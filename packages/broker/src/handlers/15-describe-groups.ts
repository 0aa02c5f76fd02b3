// DescribeGroups (15): state and members of classic groups.
//
// Version 3 can ask for the permitted operations, 4 brought static members. Up to version 5 a group that is not known is
// described as Dead; from 6 on it is an error.

import { DescribeGroupsRequest, DescribeGroupsResponse, errorCodes, ProtocolError } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { allOperations } from '../requests/authorized-operations.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function describeGroupsHandler(
  groupCoordinator: GroupCoordinator,
): Handler<typeof DescribeGroupsRequest, typeof DescribeGroupsResponse> {
  return defineHandler(DescribeGroupsRequest, DescribeGroupsResponse, {
    async handle(request, context) {
      const groups = await Promise.all(
        request.groups.map(async (groupId) => {
          try {
            const described = await groupCoordinator.describe(groupId);
            const isUnknown = described.errorCode === errorCodes.GROUP_ID_NOT_FOUND;
            const errorCode = isUnknown && context.apiVersion < 6 ? errorCodes.NONE : described.errorCode;
            const errorMessage = errorCode === errorCodes.NONE ? null : described.errorMessage;
            if (!request.includeAuthorizedOperations || errorCode !== errorCodes.NONE)
              return { ...described, errorCode, errorMessage: forVersion(errorMessage, context.apiVersion) };
            return { ...described, errorCode, errorMessage: null, authorizedOperations: allOperations('group') };
          } catch (error) {
            if (!(error instanceof ProtocolError)) throw error;
            return { errorCode: error.code, errorMessage: forVersion(error.message, context.apiVersion), groupId };
          }
        }),
      );
      return { groups };
    },
    errorResponse: (request, error) => ({ groups: request.groups.map((groupId) => ({ errorCode: error.code, groupId })) }),
  });
}

/** Only version 6 has room for a message. */
function forVersion(message: string | null | undefined, version: number): string | null {
  return version >= 6 ? (message ?? null) : null;
}
