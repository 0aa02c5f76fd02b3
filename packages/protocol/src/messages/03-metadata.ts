// Metadata (3): TODO
//
// Version 1 adds rack, controllerId and isInternal to the response and lets topics be null in the request. Version 2 adds
// clusterId to the response. Version 3 adds throttleTimeMs to the response. Version 4 adds allowAutoTopicCreation to the
// request. Version 5 adds offlineReplicas to the response. Version 6 has the same layout. Version 7 adds leaderEpoch to the
// response. Version 8 adds includeClusterAuthorizedOperations and includeTopicAuthorizedOperations to the request and adds
// topicAuthorizedOperations and clusterAuthorizedOperations to the response. Version 9 is the first flexible one. Version 10
// adds topicId to the request, adds topicId to the response, and lets name be null in the request. Version 11 drops
// includeClusterAuthorizedOperations from the request and drops clusterAuthorizedOperations from the response. Version 12 lets
// name be null in the response. Version 13 adds errorCode to the response.

import { array, bool, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const MetadataRequest = message({
  name: 'MetadataRequest',
  type: 'request',
  apiKey: 3,
  versions: '0-13',
  flexible: '9+',
  fields: {
    topics: array(
      struct({
        topicId: uuid({ versions: '10+', ignorable: true }),
        name: string({ nullable: '10+' }),
      }),
      { nullable: '1+' },
    ),
    allowAutoTopicCreation: bool({ versions: '4+', default: true }),
    includeClusterAuthorizedOperations: bool({ versions: '8-10' }),
    includeTopicAuthorizedOperations: bool({ versions: '8+' }),
  },
});
export type MetadataRequest = Message<typeof MetadataRequest>;

export const MetadataResponse = message({
  name: 'MetadataResponse',
  type: 'response',
  apiKey: 3,
  versions: '0-13',
  flexible: '9+',
  fields: {
    throttleTimeMs: int32({ versions: '3+', ignorable: true }),
    brokers: array(
      struct({
        nodeId: int32(),
        host: string(),
        port: int32(),
        rack: string({ versions: '1+', nullable: '0+', default: null, ignorable: true }),
      }),
    ),
    clusterId: string({ versions: '2+', nullable: '0+', default: null, ignorable: true }),
    controllerId: int32({ versions: '1+', default: -1, ignorable: true }),
    topics: array(
      struct({
        errorCode: int16(),
        name: string({ nullable: '12+' }),
        topicId: uuid({ versions: '10+', ignorable: true }),
        isInternal: bool({ versions: '1+', ignorable: true }),
        partitions: array(
          struct({
            errorCode: int16(),
            partitionIndex: int32(),
            leaderId: int32(),
            leaderEpoch: int32({ versions: '7+', default: -1, ignorable: true }),
            replicaNodes: array(int32()),
            isrNodes: array(int32()),
            offlineReplicas: array(int32(), { versions: '5+', ignorable: true }),
          }),
        ),
        topicAuthorizedOperations: int32({ versions: '8+', default: -2147483648 }),
      }),
    ),
    clusterAuthorizedOperations: int32({ versions: '8-10', default: -2147483648 }),
    errorCode: int16({ versions: '13+', ignorable: true }),
  },
});
export type MetadataResponse = Message<typeof MetadataResponse>;
