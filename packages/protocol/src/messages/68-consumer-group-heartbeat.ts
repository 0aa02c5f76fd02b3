// ConsumerGroupHeartbeat (68): A member of a consumer group (the protocol that assigns on the broker) tells what it has and
// wants, and learns its part of the assignment.
//
//   1  can subscribe by regular expression; the client chooses its member id; adds subscribedTopicRegex to the request

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
    /** 0 to join, -1 to leave, -2 to leave for a while as a static member. */
    memberEpoch: int32(),
    /** Of a static member; null: not static, or unchanged. */
    instanceId: string({ nullable: '0+', default: null }),
    /** Null: none, or unchanged. */
    rackId: string({ nullable: '0+', default: null }),
    /** -1: unchanged. */
    rebalanceTimeoutMs: int32({ default: -1 }),
    /** Null: unchanged. */
    subscribedTopicNames: array(string(), { nullable: '0+', default: null }),
    /** Null: unchanged. */
    subscribedTopicRegex: string({ versions: '1+', nullable: '0+', default: null }),
    /** Null: the broker's choice, or unchanged. */
    serverAssignor: string({ nullable: '0+', default: null }),
    /** What the member has now; null: unchanged. */
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
    /** For the next heartbeat. */
    memberEpoch: int32(),
    /** When the next heartbeat is due. */
    heartbeatIntervalMs: int32(),
    /** Null: unchanged. */
    assignment: struct(
      {
        topicPartitions: array(topicPartitions),
      },
      { nullable: '0+', default: null },
    ),
  },
});
export type ConsumerGroupHeartbeatResponse = Message<typeof ConsumerGroupHeartbeatResponse>;
