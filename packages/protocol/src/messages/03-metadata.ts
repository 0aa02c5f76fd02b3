// Metadata (3): What the cluster consists of: brokers, topics, partitions and their leaders. May create the topics that it asks
// for.
//
//   1   null means all topics and an empty list none, where in version 0 the empty list meant all; adds rack, controllerId and
//       isInternal to the response; allows null as topics in the request
//   2   adds clusterId to the response
//   3   adds throttleTimeMs to the response
//   4   says whether topics may be created; adds allowAutoTopicCreation to the request
//   5   adds offlineReplicas to the response
//   6   is as 5: the client waits itself when it is throttled
//   7   tells leader epochs; adds leaderEpoch to the response
//   8   can ask for authorized operations; adds includeClusterAuthorizedOperations and includeTopicAuthorizedOperations to the
//       request, topicAuthorizedOperations and clusterAuthorizedOperations to the response
//   9   is flexible
//   10  adds topicId to request and response; allows null as name in the request
//   11  leaves the cluster's authorized operations to DescribeCluster; drops includeClusterAuthorizedOperations from the
//       request, clusterAuthorizedOperations from the response
//   12  can ask for topics by id; allows null as name in the response
//   13  can tell the client to bootstrap again; adds errorCode to the response

import { array, bool, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const MetadataRequest = message({
  name: 'MetadataRequest',
  type: 'request',
  apiKey: 3,
  versions: '0-13',
  flexible: '9+',
  fields: {
    /** Null: all. In version 0 the empty list means all. */
    topics: array(
      struct({
        /** From version 12 on in place of the name. */
        topicId: uuid({ versions: '10+', ignorable: true }),
        /** Null: named by id. */
        name: string({ nullable: '10+' }),
      }),
      { nullable: '1+' },
    ),
    /** Whether topics that do not exist are created, where the broker permits it. */
    allowAutoTopicCreation: bool({ versions: '4+', default: true }),
    /** Versions 8 to 10. */
    includeClusterAuthorizedOperations: bool({ versions: '8-10' }),
    /** Whether to fill in topicAuthorizedOperations. */
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
    /** Those that are alive. */
    brokers: array(
      struct({
        nodeId: int32(),
        host: string(),
        port: int32(),
        rack: string({ versions: '1+', nullable: '0+', default: null, ignorable: true }),
      }),
    ),
    /** Null: not known. */
    clusterId: string({ versions: '2+', nullable: '0+', default: null, ignorable: true }),
    /** -1: there is none. */
    controllerId: int32({ versions: '1+', default: -1, ignorable: true }),
    topics: array(
      struct({
        errorCode: int16(),
        /** Null: there is no topic with this id. */
        name: string({ nullable: '12+' }),
        topicId: uuid({ versions: '10+', ignorable: true }),
        /** Whether the topic belongs to the cluster itself. */
        isInternal: bool({ versions: '1+', ignorable: true }),
        partitions: array(
          struct({
            errorCode: int16(),
            partitionIndex: int32(),
            /** -1: there is none. */
            leaderId: int32(),
            /** -1 when unknown. */
            leaderEpoch: int32({ versions: '7+', default: -1, ignorable: true }),
            /** All assigned replicas, the preferred leader first. */
            replicaNodes: array(int32()),
            /** Those in sync with the leader. */
            isrNodes: array(int32()),
            /** Those on dead brokers or failed disks. */
            offlineReplicas: array(int32(), { versions: '5+', ignorable: true }),
          }),
        ),
        /** A bit for each operation that the client may do; the smallest int32: not asked for. */
        topicAuthorizedOperations: int32({ versions: '8+', default: -2147483648 }),
      }),
    ),
    /** As for topics. */
    clusterAuthorizedOperations: int32({ versions: '8-10', default: -2147483648 }),
    /** An error of the request as a whole. */
    errorCode: int16({ versions: '13+', ignorable: true }),
  },
});
export type MetadataResponse = Message<typeof MetadataResponse>;
