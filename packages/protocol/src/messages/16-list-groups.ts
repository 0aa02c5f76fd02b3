// ListGroups (16): Lists the groups that a broker coordinates.
//
//   1  adds throttleTimeMs to the response
//   2  is as 1: the client waits itself when it is throttled
//   3  is flexible
//   4  tells and filters by state; adds statesFilter to the request, groupState to the response
//   5  tells and filters by type; adds typesFilter to the request, groupType to the response

import { array, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const ListGroupsRequest = message({
  name: 'ListGroupsRequest',
  type: 'request',
  apiKey: 16,
  versions: '0-5',
  flexible: '3+',
  fields: {
    statesFilter: array(string(), { versions: '4+' }),
    typesFilter: array(string(), { versions: '5+' }),
  },
});
export type ListGroupsRequest = Message<typeof ListGroupsRequest>;

export const ListGroupsResponse = message({
  name: 'ListGroupsResponse',
  type: 'response',
  apiKey: 16,
  versions: '0-5',
  flexible: '3+',
  fields: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16(),
    groups: array(
      struct({
        groupId: string(),
        protocolType: string(),
        groupState: string({ versions: '4+', ignorable: true }),
        groupType: string({ versions: '5+', ignorable: true }),
      }),
    ),
  },
});
export type ListGroupsResponse = Message<typeof ListGroupsResponse>;
