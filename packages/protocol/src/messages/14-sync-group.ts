// SyncGroup (14): TODO
//
// Version 1 adds throttleTimeMs to the response. Version 2 has the same layout. Version 3 adds groupInstanceId to the request.
// Version 4 is the first flexible one. Version 5 adds protocolType and protocolName to the request and adds protocolType and
// protocolName to the response.

import { array, bytes, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const SyncGroupRequest = message({
  name: 'SyncGroupRequest',
  type: 'request',
  apiKey: 14,
  versions: '0-5',
  flexible: '4+',
  fields: {
    groupId: string(),
    generationId: int32(),
    memberId: string(),
    groupInstanceId: string({ versions: '3+', nullable: '0+', default: null }),
    protocolType: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
    protocolName: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
    assignments: array(
      struct({
        memberId: string(),
        assignment: bytes(),
      }),
    ),
  },
});
export type SyncGroupRequest = Message<typeof SyncGroupRequest>;

export const SyncGroupResponse = message({
  name: 'SyncGroupResponse',
  type: 'response',
  apiKey: 14,
  versions: '0-5',
  flexible: '4+',
  fields: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16(),
    protocolType: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
    protocolName: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
    assignment: bytes(),
  },
});
export type SyncGroupResponse = Message<typeof SyncGroupResponse>;
