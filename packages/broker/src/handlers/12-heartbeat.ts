// Heartbeat (12): a member of a classic group says that it is alive, and learns of a rebalance by the answer.
//
// Version 3 brought static members.

import { HeartbeatRequest, HeartbeatResponse } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function heartbeatHandler(groups: GroupCoordinator): Handler<typeof HeartbeatRequest, typeof HeartbeatResponse> {
  return defineHandler(HeartbeatRequest, HeartbeatResponse, {
    handle: async (request) => ({ errorCode: await groups.heartbeat(request) }),
  });
}
