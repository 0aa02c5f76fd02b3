// StreamsGroupHeartbeat (88): A member of a streams group tells what it has and wants, and learns its tasks.
//
//   1  can ask for a description of the topology; the lag is a long; adds acceptableRecoveryLag and topologyDescriptionRequired
//      to the response; drops acceptableRecoveryLagLegacy from the response

import { array, bool, int8, int16, int32, int64, type Message, message, string, struct, uint16 } from '../schema/define.ts';

const keyValue = struct({
  key: string(),
  value: string(),
});

const topicInfo = struct({
  name: string(),
  partitions: int32(),
  replicationFactor: int16(),
  topicConfigs: array(keyValue),
});

const endpointFields = {
  host: string(),
  port: uint16(),
};

const taskOffset = struct({
  subtopologyId: string(),
  partition: int32(),
  offset: int64(),
});

const taskIds = struct({
  subtopologyId: string(),
  partitions: array(int32()),
});

export const StreamsGroupHeartbeatRequest = message({
  name: 'StreamsGroupHeartbeatRequest',
  type: 'request',
  apiKey: 88,
  versions: '0-1',
  flexible: '0+',
  fields: {
    groupId: string(),
    memberId: string(),
    memberEpoch: int32(),
    endpointInformationEpoch: int32(),
    instanceId: string({ nullable: '0+', default: null }),
    rackId: string({ nullable: '0+', default: null }),
    rebalanceTimeoutMs: int32({ default: -1 }),
    topology: struct(
      {
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
      { nullable: '0+', default: null },
    ),
    activeTasks: array(taskIds, { nullable: '0+', default: null }),
    standbyTasks: array(taskIds, { nullable: '0+', default: null }),
    warmupTasks: array(taskIds, { nullable: '0+', default: null }),
    processId: string({ nullable: '0+', default: null }),
    userEndpoint: struct(endpointFields, { nullable: '0+', default: null }),
    clientTags: array(keyValue, { nullable: '0+', default: null }),
    taskOffsets: array(taskOffset, { nullable: '0+', default: null }),
    taskEndOffsets: array(taskOffset, { nullable: '0+', default: null }),
    shutdownApplication: bool(),
  },
});
export type StreamsGroupHeartbeatRequest = Message<typeof StreamsGroupHeartbeatRequest>;

const status = struct({
  statusCode: int8(),
  statusDetail: string(),
});

const topicPartition = struct({
  topic: string(),
  partitions: array(int32()),
});

export const StreamsGroupHeartbeatResponse = message({
  name: 'StreamsGroupHeartbeatResponse',
  type: 'response',
  apiKey: 88,
  versions: '0-1',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    memberId: string(),
    memberEpoch: int32(),
    heartbeatIntervalMs: int32(),
    acceptableRecoveryLagLegacy: int32({ versions: '0' }),
    taskOffsetIntervalMs: int32(),
    acceptableRecoveryLag: int64({ versions: '1+', default: -1, ignorable: true }),
    status: array(status, { nullable: '0+' }),
    activeTasks: array(taskIds, { nullable: '0+', default: null }),
    standbyTasks: array(taskIds, { nullable: '0+', default: null }),
    warmupTasks: array(taskIds, { nullable: '0+', default: null }),
    topologyDescriptionRequired: bool({ versions: '1+' }),
    endpointInformationEpoch: int32(),
    partitionsByUserEndpoint: array(
      struct({
        userEndpoint: struct(endpointFields),
        activePartitions: array(topicPartition),
        standbyPartitions: array(topicPartition),
      }),
      { nullable: '0+', default: null },
    ),
  },
});
export type StreamsGroupHeartbeatResponse = Message<typeof StreamsGroupHeartbeatResponse>;
