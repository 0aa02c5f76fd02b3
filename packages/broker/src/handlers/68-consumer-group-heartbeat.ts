// ConsumerGroupHeartbeat (68): a member of a consumer group joins, beats and leaves, and is led to its part of the assignment.
//
// Version 1 brought subscriptions by regular expression, and member ids that the clients make.

import { ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { Authorizer } from '../security/authorizer.ts';

export function consumerGroupHeartbeatHandler(
  groups: GroupCoordinator,
  authorizer?: Authorizer,
): Handler<typeof ConsumerGroupHeartbeatRequest, typeof ConsumerGroupHeartbeatResponse> {
  return defineHandler(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, {
    handle: (request, context) =>
      groups.consumerHeartbeat(request, {
        apiVersion: context.apiVersion,
        clientId: context.clientId ?? '',
        clientHost: `/${context.clientAddress}`,
        maySeeTopic: authorizer && ((topic: string) => authorizer.may(context, 'DESCRIBE', 'Topic', topic, { quietly: true })),
      }),
  });
}
