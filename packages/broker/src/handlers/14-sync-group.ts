// SyncGroup (14): a member of a classic group asks for its assignment; the leader brings everyone's. The answer waits for the
// leader's.
//
// Version 3 brought static members; from 5 on the member says which protocol it believes to be chosen.

import { errorCodes, SyncGroupRequest, SyncGroupResponse } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function syncGroupHandler(groups: GroupCoordinator): Handler<typeof SyncGroupRequest, typeof SyncGroupResponse> {
  return defineHandler(SyncGroupRequest, SyncGroupResponse, {
    handle(request, context) {
      // Both are mandatory from version 5 on, though the field could be null.
      if (context.apiVersion >= 5 && (request.protocolType === null || request.protocolName === null)) {
        return { errorCode: errorCodes.INCONSISTENT_GROUP_PROTOCOL };
      }
      return groups.sync(request);
    },
  });
}
