// DeleteGroups (42): Deletes groups that have no members.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible
//   3  explains errors; adds errorMessage to the response

import { array, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const DeleteGroupsRequest = message({
  name: 'DeleteGroupsRequest',
  type: 'request',
  apiKey: 42,
  versions: '0-3',
  flexible: '2+',
  fields: {
    groupsNames: array(string()),
  },
});
export type DeleteGroupsRequest = Message<typeof DeleteGroupsRequest>;

export const DeleteGroupsResponse = message({
  name: 'DeleteGroupsResponse',
  type: 'response',
  apiKey: 42,
  versions: '0-3',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32(),
    results: array(
      struct({
        groupId: string(),
        errorCode: int16(),
        errorMessage: string({ versions: '3+', nullable: '0+', default: null, ignorable: true }),
      }),
    ),
  },
});
export type DeleteGroupsResponse = Message<typeof DeleteGroupsResponse>;
