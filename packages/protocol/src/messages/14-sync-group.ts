// SyncGroup (14): The leader of a classic group hands in the assignment, and every member gets its part.
//
//   1  adds throttleTimeMs to the response
//   2  is as 1: the client waits itself when it is throttled
//   3  brings static members; adds groupInstanceId to the request
//   4  is flexible
//   5  repeats the protocol, so that a mix-up is noticed; adds protocolType and protocolName to request and response

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
    /** From the leader; empty from the others. */
    assignments: array(
      struct({
        memberId: string(),
        /** For consumers: a ConsumerProtocolAssignment after its version. */
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
    /** For consumers: a ConsumerProtocolAssignment after its version. */
    assignment: bytes(),
  },
});
export type SyncGroupResponse = Message<typeof SyncGroupResponse>;
