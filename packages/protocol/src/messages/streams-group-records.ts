// Records of __consumer_offsets that hold streams groups. An int16 goes before the key and says what the record is
// (recordType); one before the value says its version. Without a value the thing is gone.

import { array, int8, int16, int32, int64, type Message, message, string, struct, uint16 } from '../schema/define.ts';

export const StreamsGroupMetadataKey = message({
  name: 'StreamsGroupMetadataKey',
  type: 'data',
  recordType: 17,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type StreamsGroupMetadataKey = Message<typeof StreamsGroupMetadataKey>;

const lastAssignmentConfig = struct({
  key: string(),
  value: string(),
});

export const StreamsGroupMetadataValue = message({
  name: 'StreamsGroupMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    epoch: int32(),
    metadataHash: int64(),
    validatedTopologyEpoch: int32({ default: -1, tag: 0 }),
    lastAssignmentConfigs: array(lastAssignmentConfig, { nullable: '0+', tag: 1 }),
    storedDescriptionTopologyEpoch: int32({ default: -1, tag: 2 }),
    failedDescriptionTopologyEpoch: int32({ default: -1, tag: 3 }),
  },
});
export type StreamsGroupMetadataValue = Message<typeof StreamsGroupMetadataValue>;

export const StreamsGroupMemberMetadataKey = message({
  name: 'StreamsGroupMemberMetadataKey',
  type: 'data',
  recordType: 19,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    memberId: string(),
  },
});
export type StreamsGroupMemberMetadataKey = Message<typeof StreamsGroupMemberMetadataKey>;

const endpointFields = {
  host: string(),
  port: uint16(),
};

const keyValue = struct({
  key: string(),
  value: string(),
});

export const StreamsGroupMemberMetadataValue = message({
  name: 'StreamsGroupMemberMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    instanceId: string({ nullable: '0+' }),
    rackId: string({ nullable: '0+' }),
    clientId: string(),
    clientHost: string(),
    rebalanceTimeoutMs: int32({ default: -1 }),
    topologyEpoch: int32(),
    processId: string(),
    userEndpoint: struct(endpointFields, { nullable: '0+', default: null }),
    clientTags: array(keyValue),
  },
});
export type StreamsGroupMemberMetadataValue = Message<typeof StreamsGroupMemberMetadataValue>;

export const StreamsGroupTargetAssignmentMetadataKey = message({
  name: 'StreamsGroupTargetAssignmentMetadataKey',
  type: 'data',
  recordType: 20,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type StreamsGroupTargetAssignmentMetadataKey = Message<typeof StreamsGroupTargetAssignmentMetadataKey>;

export const StreamsGroupTargetAssignmentMetadataValue = message({
  name: 'StreamsGroupTargetAssignmentMetadataValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    assignmentEpoch: int32(),
    assignmentTimestamp: int64({ tag: 0, ignorable: true }),
  },
});
export type StreamsGroupTargetAssignmentMetadataValue = Message<typeof StreamsGroupTargetAssignmentMetadataValue>;

export const StreamsGroupTargetAssignmentMemberKey = message({
  name: 'StreamsGroupTargetAssignmentMemberKey',
  type: 'data',
  recordType: 21,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    memberId: string(),
  },
});
export type StreamsGroupTargetAssignmentMemberKey = Message<typeof StreamsGroupTargetAssignmentMemberKey>;

const taskIds = struct({
  subtopologyId: string(),
  partitions: array(int32()),
});

export const StreamsGroupTargetAssignmentMemberValue = message({
  name: 'StreamsGroupTargetAssignmentMemberValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    activeTasks: array(taskIds),
    standbyTasks: array(taskIds),
    warmupTasks: array(taskIds),
  },
});
export type StreamsGroupTargetAssignmentMemberValue = Message<typeof StreamsGroupTargetAssignmentMemberValue>;

export const StreamsGroupCurrentMemberAssignmentKey = message({
  name: 'StreamsGroupCurrentMemberAssignmentKey',
  type: 'data',
  recordType: 22,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    memberId: string(),
  },
});
export type StreamsGroupCurrentMemberAssignmentKey = Message<typeof StreamsGroupCurrentMemberAssignmentKey>;

const streamsGroupCurrentMemberAssignmentTaskIds = struct({
  subtopologyId: string(),
  partitions: array(int32()),
  assignmentEpochs: array(int32(), { nullable: '0+', tag: 0 }),
});

export const StreamsGroupCurrentMemberAssignmentValue = message({
  name: 'StreamsGroupCurrentMemberAssignmentValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    memberEpoch: int32(),
    previousMemberEpoch: int32(),
    state: int8(),
    activeTasks: array(streamsGroupCurrentMemberAssignmentTaskIds),
    standbyTasks: array(streamsGroupCurrentMemberAssignmentTaskIds),
    warmupTasks: array(streamsGroupCurrentMemberAssignmentTaskIds),
    activeTasksPendingRevocation: array(streamsGroupCurrentMemberAssignmentTaskIds),
    standbyTasksPendingRevocation: array(streamsGroupCurrentMemberAssignmentTaskIds),
    warmupTasksPendingRevocation: array(streamsGroupCurrentMemberAssignmentTaskIds),
  },
});
export type StreamsGroupCurrentMemberAssignmentValue = Message<typeof StreamsGroupCurrentMemberAssignmentValue>;

export const StreamsGroupTopologyKey = message({
  name: 'StreamsGroupTopologyKey',
  type: 'data',
  recordType: 23,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
  },
});
export type StreamsGroupTopologyKey = Message<typeof StreamsGroupTopologyKey>;

const topicConfig = struct({
  key: string(),
  value: string(),
});

const topicInfo = struct({
  name: string(),
  partitions: int32(),
  replicationFactor: int16(),
  topicConfigs: array(topicConfig),
});

export const StreamsGroupTopologyValue = message({
  name: 'StreamsGroupTopologyValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    epoch: int32(),
    subtopologies: array(
      struct({
        subtopologyId: string(),
        sourceTopics: array(string()),
        sourceTopicRegex: array(string()),
        stateChangelogTopics: array(topicInfo),
        repartitionSinkTopics: array(string()),
        repartitionSourceTopics: array(topicInfo),
        copartitionGroups: array(
          struct({
            sourceTopics: array(int16()),
            sourceTopicRegex: array(int16()),
            repartitionSourceTopics: array(int16()),
          }),
        ),
      }),
    ),
  },
});
export type StreamsGroupTopologyValue = Message<typeof StreamsGroupTopologyValue>;
