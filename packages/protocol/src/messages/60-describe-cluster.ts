// DescribeCluster (60): Brokers or controllers of the cluster.
//
//   1  can ask a controller about controllers; adds endpointType to request and response
//   2  can ask for brokers that are fenced; adds includeFencedBrokers to the request, isFenced to the response

import { array, bool, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeClusterRequest = message({
  name: 'DescribeClusterRequest',
  type: 'request',
  apiKey: 60,
  versions: '0-2',
  flexible: '0+',
  fields: {
    includeClusterAuthorizedOperations: bool(),
    /** 1 brokers, 2 controllers. */
    endpointType: int8({ versions: '1+', default: 1 }),
    includeFencedBrokers: bool({ versions: '2+' }),
  },
});
export type DescribeClusterRequest = Message<typeof DescribeClusterRequest>;

export const DescribeClusterResponse = message({
  name: 'DescribeClusterResponse',
  type: 'response',
  apiKey: 60,
  versions: '0-2',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    endpointType: int8({ versions: '1+', default: 1 }),
    clusterId: string(),
    controllerId: int32({ default: -1 }),
    brokers: array(
      struct({
        brokerId: int32(),
        host: string(),
        port: int32(),
        rack: string({ nullable: '0+', default: null }),
        isFenced: bool({ versions: '2+' }),
      }),
    ),
    clusterAuthorizedOperations: int32({ default: -2147483648 }),
  },
});
export type DescribeClusterResponse = Message<typeof DescribeClusterResponse>;
