// LeaveGroup (13): members leave a classic group at once, instead of when their sessions end.
//
// Up to version 2 one member leaves. Version 3 lets an administrator remove several, static ones by their instance ids; 5
// brought reasons for the logs.

import { errorCodes, LeaveGroupRequest, LeaveGroupResponse } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function leaveGroupHandler(groups: GroupCoordinator): Handler<typeof LeaveGroupRequest, typeof LeaveGroupResponse> {
  return defineHandler(LeaveGroupRequest, LeaveGroupResponse, {
    async handle(request, context) {
      const isSingle = context.apiVersion < 3;
      const members = isSingle ? [{ memberId: request.memberId, groupInstanceId: null, reason: null }] : request.members;
      const left = await groups.leave(request.groupId, members);
      if (!isSingle) return left;
      return { errorCode: left.errorCode === errorCodes.NONE ? (left.members?.[0]?.errorCode ?? 0) : left.errorCode };
    },
  });
}
