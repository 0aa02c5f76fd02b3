// ShareGroupDescribe (77): What the coordinator knows of share groups.
//
//   1  is as 0, which was an early access

import { array, bool, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const ShareGroupDescribeRequest = message({
  name: 'ShareGroupDescribeRequest',
  type: 'request',
  apiKey: 77,
  versions: '0-1',
  flexible: '0+',
  fields: {
    groupIds: array(string()),
    includeAuthorizedOperations: bool(),
  },
});
export type ShareGroupDescribeRequest = Message<typeof ShareGroupDescribeRequest>;

const topicPartitions = struct({
  topicId: uuid(),
  topicName: string(),
  partitions: array(int32()),
});

const assignmentFields = {
  topicPartitions: array(topicPartitions),
};

export const ShareGroupDescribeResponse = message({
  name: 'ShareGroupDescribeResponse',
  type: 'response',
  apiKey: 77,
  versions: '0-1',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    groups: array(
      struct({
        errorCode: int16(),
        errorMessage: string({ nullable: '0+', default: null }),
        groupId: string(),
        groupState: string(),
        groupEpoch: int32(),
        assignmentEpoch: int32(),
        assignorName: string(),
        members: array(
          struct({
            memberId: string(),
            rackId: string({ nullable: '0+', default: null }),
            memberEpoch: int32(),
            clientId: string(),
            clientHost: string(),
            subscribedTopicNames: array(string()),
            assignment: struct(assignmentFields),
          }),
        ),
        authorizedOperations: int32({ default: -2147483648 }),
      }),
    ),
  },
});
export type ShareGroupDescribeResponse = Message<typeof ShareGroupDescribeResponse>;
