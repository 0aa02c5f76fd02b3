// DescribeGroups (15): What the coordinator knows of classic groups.
//
//   1  adds throttleTimeMs to the response
//   2  is as 1: the client waits itself when it is throttled
//   3  can ask for authorized operations; adds includeAuthorizedOperations to the request, authorizedOperations to the response
//   4  tells of static members; adds groupInstanceId to the response
//   5  is flexible
//   6  answers GROUP_ID_NOT_FOUND, where earlier versions showed a dead group; adds errorMessage to the response

import { array, bool, bytes, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeGroupsRequest = message({
  name: 'DescribeGroupsRequest',
  type: 'request',
  apiKey: 15,
  versions: '0-6',
  flexible: '5+',
  fields: {
    groups: array(string()),
    includeAuthorizedOperations: bool({ versions: '3+' }),
  },
});
export type DescribeGroupsRequest = Message<typeof DescribeGroupsRequest>;

export const DescribeGroupsResponse = message({
  name: 'DescribeGroupsResponse',
  type: 'response',
  apiKey: 15,
  versions: '0-6',
  flexible: '5+',
  fields: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    groups: array(
      struct({
        errorCode: int16(),
        errorMessage: string({ versions: '6+', nullable: '0+', default: null }),
        groupId: string(),
        /** Dead, Empty, PreparingRebalance, CompletingRebalance, Stable; empty with an error. */
        groupState: string(),
        protocolType: string(),
        protocolData: string(),
        members: array(
          struct({
            memberId: string(),
            groupInstanceId: string({ versions: '4+', nullable: '0+', default: null, ignorable: true }),
            clientId: string(),
            clientHost: string(),
            memberMetadata: bytes(),
            memberAssignment: bytes(),
          }),
        ),
        authorizedOperations: int32({ versions: '3+', default: -2147483648 }),
      }),
    ),
  },
});
export type DescribeGroupsResponse = Message<typeof DescribeGroupsResponse>;
