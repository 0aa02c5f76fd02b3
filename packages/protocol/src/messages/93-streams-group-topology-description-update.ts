// StreamsGroupTopologyDescriptionUpdate (93): A member of a streams group hands in the description of its topology.

import { array, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

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

export const StreamsGroupTopologyDescriptionUpdateRequest = message({
  name: 'StreamsGroupTopologyDescriptionUpdateRequest',
  type: 'request',
  apiKey: 93,
  versions: '0',
  flexible: '0+',
  fields: {
    groupId: string(),
    memberId: string(),
    topologyEpoch: int32(),
    topologyDescription: struct(topologyDescriptionFields),
  },
});
export type StreamsGroupTopologyDescriptionUpdateRequest = Message<typeof StreamsGroupTopologyDescriptionUpdateRequest>;

export const StreamsGroupTopologyDescriptionUpdateResponse = message({
  name: 'StreamsGroupTopologyDescriptionUpdateResponse',
  type: 'response',
  apiKey: 93,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
  },
});
export type StreamsGroupTopologyDescriptionUpdateResponse = Message<typeof StreamsGroupTopologyDescriptionUpdateResponse>;
