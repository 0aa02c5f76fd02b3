// Records of __consumer_offsets that hold consumer groups (the protocol that assigns on the broker), a record for each member
// and each part of its state. An int16 goes before the key and says what the record is (recordType); one before the value says
// its version. Without a value the thing is gone.

import { array, bytes, int8, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const ConsumerGroupMetadataKey = message({
  name: 'ConsumerGroupMetadataKey',
  type: 'data',
  recordType: 3,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type ConsumerGroupMetadataKey = Message<typeof ConsumerGroupMetadataKey>;

export const ConsumerGroupMetadataValue = message({
  name: 'ConsumerGroupMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    epoch: int32(),
    metadataHash: int64({ tag: 0 }),
  },
});
export type ConsumerGroupMetadataValue = Message<typeof ConsumerGroupMetadataValue>;

export const ConsumerGroupPartitionMetadataKey = message({
  name: 'ConsumerGroupPartitionMetadataKey',
  type: 'data',
  recordType: 4,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type ConsumerGroupPartitionMetadataKey = Message<typeof ConsumerGroupPartitionMetadataKey>;

export const ConsumerGroupPartitionMetadataValue = message({
  name: 'ConsumerGroupPartitionMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    topics: array(
      struct({
        topicId: uuid(),
        topicName: string(),
        numPartitions: int32(),
        partitionMetadata: array(
          struct({
            partition: int32(),
            racks: array(string()),
          }),
        ),
      }),
    ),
  },
});
export type ConsumerGroupPartitionMetadataValue = Message<typeof ConsumerGroupPartitionMetadataValue>;

export const ConsumerGroupMemberMetadataKey = message({
  name: 'ConsumerGroupMemberMetadataKey',
  type: 'data',
  recordType: 5,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    memberId: string(),
  },
});
export type ConsumerGroupMemberMetadataKey = Message<typeof ConsumerGroupMemberMetadataKey>;

export const ConsumerGroupMemberMetadataValue = message({
  name: 'ConsumerGroupMemberMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    instanceId: string({ nullable: '0+' }),
    rackId: string({ nullable: '0+' }),
    clientId: string(),
    clientHost: string(),
    subscribedTopicNames: array(string()),
    subscribedTopicRegex: string({ nullable: '0+' }),
    rebalanceTimeoutMs: int32({ default: -1 }),
    serverAssignor: string({ nullable: '0+' }),
    classicMemberMetadata: struct(
      {
        sessionTimeoutMs: int32(),
        supportedProtocols: array(
          struct({
            name: string(),
            metadata: bytes(),
          }),
        ),
      },
      { nullable: '0+', tag: 0 },
    ),
  },
});
export type ConsumerGroupMemberMetadataValue = Message<typeof ConsumerGroupMemberMetadataValue>;

export const ConsumerGroupTargetAssignmentMetadataKey = message({
  name: 'ConsumerGroupTargetAssignmentMetadataKey',
  type: 'data',
  recordType: 6,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type ConsumerGroupTargetAssignmentMetadataKey = Message<typeof ConsumerGroupTargetAssignmentMetadataKey>;

export const ConsumerGroupTargetAssignmentMetadataValue = message({
  name: 'ConsumerGroupTargetAssignmentMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    assignmentEpoch: int32(),
    assignmentTimestamp: int64({ tag: 0, ignorable: true }),
  },
});
export type ConsumerGroupTargetAssignmentMetadataValue = Message<typeof ConsumerGroupTargetAssignmentMetadataValue>;

export const ConsumerGroupTargetAssignmentMemberKey = message({
  name: 'ConsumerGroupTargetAssignmentMemberKey',
  type: 'data',
  recordType: 7,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    memberId: string(),
  },
});
export type ConsumerGroupTargetAssignmentMemberKey = Message<typeof ConsumerGroupTargetAssignmentMemberKey>;

export const ConsumerGroupTargetAssignmentMemberValue = message({
  name: 'ConsumerGroupTargetAssignmentMemberValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    topicPartitions: array(
      struct({
        topicId: uuid(),
        partitions: array(int32()),
      }),
    ),
  },
});
export type ConsumerGroupTargetAssignmentMemberValue = Message<typeof ConsumerGroupTargetAssignmentMemberValue>;

export const ConsumerGroupCurrentMemberAssignmentKey = message({
  name: 'ConsumerGroupCurrentMemberAssignmentKey',
  type: 'data',
  recordType: 8,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    memberId: string(),
  },
});
export type ConsumerGroupCurrentMemberAssignmentKey = Message<typeof ConsumerGroupCurrentMemberAssignmentKey>;

const topicPartitions = struct({
  topicId: uuid(),
  partitions: array(int32()),
  assignmentEpochs: array(int32(), { nullable: '0+', tag: 0 }),
});

export const ConsumerGroupCurrentMemberAssignmentValue = message({
  name: 'ConsumerGroupCurrentMemberAssignmentValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    memberEpoch: int32(),
    previousMemberEpoch: int32(),
    state: int8(),
    assignedPartitions: array(topicPartitions),
    partitionsPendingRevocation: array(topicPartitions),
  },
});
export type ConsumerGroupCurrentMemberAssignmentValue = Message<typeof ConsumerGroupCurrentMemberAssignmentValue>;

export const ConsumerGroupRegularExpressionKey = message({
  name: 'ConsumerGroupRegularExpressionKey',
  type: 'data',
  recordType: 16,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    regularExpression: string(),
  },
});
export type ConsumerGroupRegularExpressionKey = Message<typeof ConsumerGroupRegularExpressionKey>;

export const ConsumerGroupRegularExpressionValue = message({
  name: 'ConsumerGroupRegularExpressionValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    topics: array(string()),
    version: int64(),
    timestamp: int64(),
  },
});
export type ConsumerGroupRegularExpressionValue = Message<typeof ConsumerGroupRegularExpressionValue>;
