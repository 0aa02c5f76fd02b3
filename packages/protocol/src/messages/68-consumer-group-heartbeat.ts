// ConsumerGroupHeartbeat (68): TODO
//
// Version 1 adds subscribedTopicRegex to the request.

import { array, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const ConsumerGroupHeartbeatRequest = message({
  name: 'ConsumerGroupHeartbeatRequest',
  type: 'request',
  apiKey: 68,
  versions: '0-1',
  flexible: '0+',
  fields: {
    groupId: string(),
    memberId: string(),
    memberEpoch: int32(),
    instanceId: string({ nullable: '0+', default: null }),
    rackId: string({ nullable: '0+', default: null }),
    rebalanceTimeoutMs: int32({ default: -1 }),
    subscribedTopicNames: array(string(), { nullable: '0+', default: null }),
    subscribedTopicRegex: string({ versions: '1+', nullable: '0+', default: null }),
    serverAssignor: string({ nullable: '0+', default: null }),
    topicPartitions: array(
      struct({
        topicId: uuid(),
        partitions: array(int32()),
      }),
      { nullable: '0+', default: null },
    ),
  },
});
export type ConsumerGroupHeartbeatRequest = Message<typeof ConsumerGroupHeartbeatRequest>;

const topicPartitions = struct({
  topicId: uuid(),
  partitions: array(int32()),
});

export const ConsumerGroupHeartbeatResponse = message({
  name: 'ConsumerGroupHeartbeatResponse',
  type: 'response',
  apiKey: 68,
  versions: '0-1',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    memberId: string({ nullable: '0+', default: null }),
    memberEpoch: int32(),
    heartbeatIntervalMs: int32(),
    assignment: struct(
      {
        topicPartitions: array(topicPartitions),
      },
      { nullable: '0+', default: null },
    ),
  },
});
export type ConsumerGroupHeartbeatResponse = Message<typeof ConsumerGroupHeartbeatResponse>;
