// ConsumerGroupHeartbeat (68): a member of a consumer group joins, beats and leaves, and is led to its part of the assignment.
//
// Version 1 brought subscriptions by regular expression, and member ids that the clients make.

import { ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function consumerGroupHeartbeatHandler(
  groups: GroupCoordinator,
): Handler<typeof ConsumerGroupHeartbeatRequest, typeof ConsumerGroupHeartbeatResponse> {
  return defineHandler(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, {
    handle: (request, { apiVersion, clientId, clientAddress }) =>
      groups.consumerHeartbeat(request, { apiVersion, clientId: clientId ?? '', clientHost: `/${clientAddress}` }),
  });
}
