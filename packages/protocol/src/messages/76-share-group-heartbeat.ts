// ShareGroupHeartbeat (76): A member of a share group tells what it wants, and learns its assignment.
//
//   1  is as 0, which was an early access

import { array, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const ShareGroupHeartbeatRequest = message({
  name: 'ShareGroupHeartbeatRequest',
  type: 'request',
  apiKey: 76,
  versions: '0-1',
  flexible: '0+',
  fields: {
    groupId: string(),
    memberId: string(),
    memberEpoch: int32(),
    rackId: string({ nullable: '0+', default: null }),
    subscribedTopicNames: array(string(), { nullable: '0+', default: null }),
  },
});
export type ShareGroupHeartbeatRequest = Message<typeof ShareGroupHeartbeatRequest>;

const topicPartitions = struct({
  topicId: uuid(),
  partitions: array(int32()),
});

export const ShareGroupHeartbeatResponse = message({
  name: 'ShareGroupHeartbeatResponse',
  type: 'response',
  apiKey: 76,
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
export type ShareGroupHeartbeatResponse = Message<typeof ShareGroupHeartbeatResponse>;
