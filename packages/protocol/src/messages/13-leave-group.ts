// LeaveGroup (13): Members leave a classic group.
//
//   1  adds throttleTimeMs to the response
//   2  is as 1: the client waits itself when it is throttled
//   3  names several members at once; adds members to request and response; drops memberId from the request
//   4  is flexible
//   5  can say why; adds reason to the request

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
