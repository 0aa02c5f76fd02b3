// ConsumerGroupDescribe (69): epochs, members and assignments of consumer groups. Version 1 tells which protocol a member speaks.

import { ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, errorCodes, ProtocolError } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { allOperations } from '../requests/authorized-operations.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function consumerGroupDescribeHandler(
  groupCoordinator: GroupCoordinator,
): Handler<typeof ConsumerGroupDescribeRequest, typeof ConsumerGroupDescribeResponse> {
  return defineHandler(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, {
    async handle(request) {
      const groups = await Promise.all(
        request.groupIds.map(async (groupId) => {
          try {
            const described = await groupCoordinator.describeConsumer(groupId);
            if (!request.includeAuthorizedOperations || described.errorCode !== errorCodes.NONE) return described;
            return { ...described, authorizedOperations: allOperations('group') };
          } catch (error) {
            if (!(error instanceof ProtocolError)) throw error;
            return { errorCode: error.code, errorMessage: error.message, groupId };
          }
        }),
      );
      return { groups };
    },
    errorResponse: (request, error) => ({
      groups: request.groupIds.map((groupId) => ({ errorCode: error.code, errorMessage: error.message, groupId })),
    }),
  });
}
