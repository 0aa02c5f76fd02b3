// JoinGroup (11): become a member of a classic group, or come back to it in a rebalance. The answer waits until the rebalance
// has gathered its members.
//
// Version 1 brought the rebalance time-out; before, the session time-out served as one. Version 4 makes dynamic members come
// back with an id of the coordinator's making. Version 5 brought static members, 7 names the protocol type, 8 a reason for
// the logs, 9 lets a leader skip an assignment that has not changed.

import { JoinGroupRequest, JoinGroupResponse } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function joinGroupHandler(groups: GroupCoordinator): Handler<typeof JoinGroupRequest, typeof JoinGroupResponse> {
  return defineHandler(JoinGroupRequest, JoinGroupResponse, {
    async handle(request, context) {
      const joined = await groups.join(request, {
        clientId: context.clientId ?? '',
        clientHost: `/${context.clientAddress}`,
        requiresKnownMemberId: context.apiVersion >= 4 && request.groupInstanceId === null,
        supportsSkippingAssignment: context.apiVersion >= 9,
      });
      // Before version 7 the name of the protocol could not be null.
      return { ...joined, protocolName: joined.protocolName ?? (context.apiVersion >= 7 ? null : '') };
    },
    errorResponse: (_request, error, context) => ({
      errorCode: error.code,
      memberId: '',
      protocolName: context.apiVersion >= 7 ? null : '',
    }),
  });
}
