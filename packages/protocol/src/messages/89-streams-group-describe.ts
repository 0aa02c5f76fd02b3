// StreamsGroupDescribe (89): What the coordinator knows of streams groups.
//
//   1  can tell the description of the topology; adds includeTopologyDescription to the request, topologyDescription,
//      topologyDescriptionStatus and assignorName to the response

import { array, bool, int8, int16, int32, int64, type Message, message, string, struct, uint16 } from '../schema/define.ts';

export const StreamsGroupDescribeRequest = message({
  name: 'StreamsGroupDescribeRequest',
  type: 'request',
  apiKey: 89,
  versions: '0-1',
  flexible: '0+',
  fields: {
    groupIds: array(string()),
    includeAuthorizedOperations: bool(),
    includeTopologyDescription: bool({ versions: '1+' }),
  },
});
export type StreamsGroupDescribeRequest = Message<typeof StreamsGroupDescribeRequest>;

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

const assignmentFields = {
  activeTasks: array(taskIds),
  standbyTasks: array(taskIds),
  warmupTasks: array(taskIds),
};

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

const topologyDescriptionNodeFields = {
  name: string(),
  nodeType: int8(),
  sourceTopics: array(string()),
  sinkTopic: string({ nullable: '0+', default: null }),
  stores: array(string()),
  successors: array(string()),
};
const topologyDescriptionNode = struct(topologyDescriptionNodeFields);

const topologyDescriptionSubtopology = struct({
  subtopologyId: string(),
  nodes: array(topologyDescriptionNode),
});

const topologyDescriptionGlobalStore = struct({
  source: struct(topologyDescriptionNodeFields),
  processor: struct(topologyDescriptionNodeFields),
});

const topologyDescriptionFields = {
  subtopologies: array(topologyDescriptionSubtopology),
  globalStores: array(topologyDescriptionGlobalStore),
};

export const StreamsGroupDescribeResponse = message({
  name: 'StreamsGroupDescribeResponse',
  type: 'response',
  apiKey: 89,
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
        topology: struct(
          {
            epoch: int32(),
            subtopologies: array(
              struct({
                subtopologyId: string(),
                sourceTopics: array(string()),
                repartitionSinkTopics: array(string()),
                stateChangelogTopics: array(topicInfo),
                repartitionSourceTopics: array(topicInfo),
              }),
              { nullable: '0+', default: null },
            ),
          },
          { nullable: '0+', default: null },
        ),
        members: array(
          struct({
            memberId: string(),
            memberEpoch: int32(),
            instanceId: string({ nullable: '0+', default: null }),
            rackId: string({ nullable: '0+', default: null }),
            clientId: string(),
            clientHost: string(),
            topologyEpoch: int32(),
            processId: string(),
            userEndpoint: struct(endpointFields, { nullable: '0+', default: null }),
            clientTags: array(keyValue),
            taskOffsets: array(taskOffset),
            taskEndOffsets: array(taskOffset),
            assignment: struct(assignmentFields),
            targetAssignment: struct(assignmentFields),
            isClassic: bool(),
          }),
        ),
        authorizedOperations: int32({ default: -2147483648 }),
        topologyDescription: struct(topologyDescriptionFields, { versions: '1+', nullable: '0+', default: null }),
        topologyDescriptionStatus: int8({ versions: '1+' }),
        assignorName: string({ versions: '1+', nullable: '0+', default: null, ignorable: true }),
      }),
    ),
  },
});
export type StreamsGroupDescribeResponse = Message<typeof StreamsGroupDescribeResponse>;
