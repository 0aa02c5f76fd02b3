// ListGroups (16): TODO
//
// Version 1 adds throttleTimeMs to the response. Version 2 has the same layout. Version 3 is the first flexible one. Version 4
// adds statesFilter to the request and adds groupState to the response. Version 5 adds typesFilter to the request and adds
// groupType to the response.

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
