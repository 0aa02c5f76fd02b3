// JoinGroup (11): TODO
//
// Version 1 adds rebalanceTimeoutMs to the request. Version 2 adds throttleTimeMs to the response. Versions 3 and 4 have the
// same layout. Version 5 adds groupInstanceId to the request and adds groupInstanceId to the response. Version 6 is the first
// flexible one. Version 7 adds protocolType to the response and lets protocolName be null in the response. Version 8 adds
// reason to the request. Version 9 adds skipAssignment to the response.

import { array, bool, bytes, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const JoinGroupRequest = message({
  name: 'JoinGroupRequest',
  type: 'request',
  apiKey: 11,
  versions: '0-9',
  flexible: '6+',
  fields: {
    groupId: string(),
    sessionTimeoutMs: int32(),
    rebalanceTimeoutMs: int32({ versions: '1+', default: -1, ignorable: true }),
    memberId: string(),
    groupInstanceId: string({ versions: '5+', nullable: '0+', default: null }),
    protocolType: string(),
    protocols: array(
      struct({
        name: string(),
        metadata: bytes(),
      }),
    ),
    reason: string({ versions: '8+', nullable: '0+', default: null, ignorable: true }),
  },
});
export type JoinGroupRequest = Message<typeof JoinGroupRequest>;

export const JoinGroupResponse = message({
  name: 'JoinGroupResponse',
  type: 'response',
  apiKey: 11,
  versions: '0-9',
  flexible: '6+',
  fields: {
    throttleTimeMs: int32({ versions: '2+', ignorable: true }),
    errorCode: int16(),
    generationId: int32({ default: -1 }),
    protocolType: string({ versions: '7+', nullable: '0+', default: null, ignorable: true }),
    protocolName: string({ nullable: '7+' }),
    leader: string(),
    skipAssignment: bool({ versions: '9+' }),
    memberId: string(),
    members: array(
      struct({
        memberId: string(),
        groupInstanceId: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
        metadata: bytes(),
      }),
    ),
  },
});
export type JoinGroupResponse = Message<typeof JoinGroupResponse>;
