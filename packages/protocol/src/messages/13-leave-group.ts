// LeaveGroup (13): TODO
//
// Version 1 adds throttleTimeMs to the response. Version 2 has the same layout. Version 3 adds members to the request, adds
// members to the response, and drops memberId from the request. Version 4 is the first flexible one. Version 5 adds reason to
// the request.

import { array, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const LeaveGroupRequest = message({
  name: 'LeaveGroupRequest',
  type: 'request',
  apiKey: 13,
  versions: '0-5',
  flexible: '4+',
  fields: {
    groupId: string(),
    memberId: string({ versions: '0-2' }),
    members: array(
      struct({
        memberId: string(),
        groupInstanceId: string({ nullable: '0+', default: null }),
        reason: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
      }),
      { versions: '3+' },
    ),
  },
});
export type LeaveGroupRequest = Message<typeof LeaveGroupRequest>;

export const LeaveGroupResponse = message({
  name: 'LeaveGroupResponse',
  type: 'response',
  apiKey: 13,
  versions: '0-5',
  flexible: '4+',
  fields: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16(),
    members: array(
      struct({
        memberId: string(),
        groupInstanceId: string({ nullable: '0+' }),
        errorCode: int16(),
      }),
      { versions: '3+' },
    ),
  },
});
export type LeaveGroupResponse = Message<typeof LeaveGroupResponse>;
