// Records of __consumer_offsets that hold share groups. An int16 goes before the key and says what the record is (recordType);
// one before the value says its version. Without a value the thing is gone.

import { array, int8, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

/** Kafka 3.9's early access only. */
export const ShareGroupPartitionMetadataKey = message({
  name: 'ShareGroupPartitionMetadataKey',
  type: 'data',
  recordType: 9,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type ShareGroupPartitionMetadataKey = Message<typeof ShareGroupPartitionMetadataKey>;

const topicPartitionsInfo = struct({
  topicId: uuid(),
  topicName: string(),
  partitions: array(int32()),
});

const topicInfo = struct({
  topicId: uuid(),
  topicName: string(),
});

/** Kafka 3.9's early access only. */
export const ShareGroupPartitionMetadataValue = message({
  name: 'ShareGroupPartitionMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    initializedTopics: array(topicPartitionsInfo),
    deletingTopics: array(topicInfo),
  },
});
export type ShareGroupPartitionMetadataValue = Message<typeof ShareGroupPartitionMetadataValue>;

export const ShareGroupMemberMetadataKey = message({
  name: 'ShareGroupMemberMetadataKey',
  type: 'data',
  recordType: 10,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    memberId: string(),
  },
});
export type ShareGroupMemberMetadataKey = Message<typeof ShareGroupMemberMetadataKey>;

export const ShareGroupMemberMetadataValue = message({
  name: 'ShareGroupMemberMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    rackId: string({ nullable: '0+' }),
    clientId: string(),
    clientHost: string(),
    subscribedTopicNames: array(string()),
  },
});
export type ShareGroupMemberMetadataValue = Message<typeof ShareGroupMemberMetadataValue>;

export const ShareGroupMetadataKey = message({
  name: 'ShareGroupMetadataKey',
  type: 'data',
  recordType: 11,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type ShareGroupMetadataKey = Message<typeof ShareGroupMetadataKey>;

export const ShareGroupMetadataValue = message({
  name: 'ShareGroupMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    epoch: int32(),
    metadataHash: int64(),
  },
});
export type ShareGroupMetadataValue = Message<typeof ShareGroupMetadataValue>;

export const ShareGroupTargetAssignmentMetadataKey = message({
  name: 'ShareGroupTargetAssignmentMetadataKey',
  type: 'data',
  recordType: 12,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type ShareGroupTargetAssignmentMetadataKey = Message<typeof ShareGroupTargetAssignmentMetadataKey>;

export const ShareGroupTargetAssignmentMetadataValue = message({
  name: 'ShareGroupTargetAssignmentMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    assignmentEpoch: int32(),
    assignmentTimestamp: int64({ tag: 0, ignorable: true }),
  },
});
export type ShareGroupTargetAssignmentMetadataValue = Message<typeof ShareGroupTargetAssignmentMetadataValue>;

export const ShareGroupTargetAssignmentMemberKey = message({
  name: 'ShareGroupTargetAssignmentMemberKey',
  type: 'data',
  recordType: 13,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    memberId: string(),
  },
});
export type ShareGroupTargetAssignmentMemberKey = Message<typeof ShareGroupTargetAssignmentMemberKey>;

export const ShareGroupTargetAssignmentMemberValue = message({
  name: 'ShareGroupTargetAssignmentMemberValue',
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
export type ShareGroupTargetAssignmentMemberValue = Message<typeof ShareGroupTargetAssignmentMemberValue>;

export const ShareGroupCurrentMemberAssignmentKey = message({
  name: 'ShareGroupCurrentMemberAssignmentKey',
  type: 'data',
  recordType: 14,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    memberId: string(),
  },
});
export type ShareGroupCurrentMemberAssignmentKey = Message<typeof ShareGroupCurrentMemberAssignmentKey>;

const topicPartitions = struct({
  topicId: uuid(),
  partitions: array(int32()),
});

export const ShareGroupCurrentMemberAssignmentValue = message({
  name: 'ShareGroupCurrentMemberAssignmentValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    memberEpoch: int32(),
    previousMemberEpoch: int32(),
    state: int8(),
    assignedPartitions: array(topicPartitions),
  },
});
export type ShareGroupCurrentMemberAssignmentValue = Message<typeof ShareGroupCurrentMemberAssignmentValue>;

export const ShareGroupStatePartitionMetadataKey = message({
  name: 'ShareGroupStatePartitionMetadataKey',
  type: 'data',
  recordType: 15,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type ShareGroupStatePartitionMetadataKey = Message<typeof ShareGroupStatePartitionMetadataKey>;

export const ShareGroupStatePartitionMetadataValue = message({
  name: 'ShareGroupStatePartitionMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    initializingTopics: array(topicPartitionsInfo),
    initializedTopics: array(topicPartitionsInfo),
    deletingTopics: array(topicInfo),
  },
});
export type ShareGroupStatePartitionMetadataValue = Message<typeof ShareGroupStatePartitionMetadataValue>;
