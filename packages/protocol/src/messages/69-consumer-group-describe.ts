// ConsumerGroupDescribe (69): What the coordinator knows of consumer groups.
//
//   1  tells the type of each member; adds memberType to the response

import { array, bool, int8, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const ConsumerGroupDescribeRequest = message({
  name: 'ConsumerGroupDescribeRequest',
  type: 'request',
  apiKey: 69,
  versions: '0-1',
  flexible: '0+',
  fields: {
    groupIds: array(string()),
    includeAuthorizedOperations: bool(),
  },
});
export type ConsumerGroupDescribeRequest = Message<typeof ConsumerGroupDescribeRequest>;

const topicPartitions = struct({
  topicId: uuid(),
  topicName: string(),
  partitions: array(int32()),
});

const assignmentFields = {
  topicPartitions: array(topicPartitions),
};

export const ConsumerGroupDescribeResponse = message({
  name: 'ConsumerGroupDescribeResponse',
  type: 'response',
  apiKey: 69,
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
            instanceId: string({ nullable: '0+', default: null }),
            rackId: string({ nullable: '0+', default: null }),
            memberEpoch: int32(),
            clientId: string(),
            clientHost: string(),
            subscribedTopicNames: array(string()),
            subscribedTopicRegex: string({ nullable: '0+', default: null }),
            assignment: struct(assignmentFields),
            targetAssignment: struct(assignmentFields),
            memberType: int8({ versions: '1+', default: -1, ignorable: true }),
          }),
        ),
        authorizedOperations: int32({ default: -2147483648 }),
      }),
    ),
  },
});
export type ConsumerGroupDescribeResponse = Message<typeof ConsumerGroupDescribeResponse>;
