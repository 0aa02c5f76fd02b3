// JoinGroup (11): A member enters a classic group, or begins its next generation. The answer comes when all members have
// joined, and tells one of them, the leader, who they are.
//
//   1  tells how long a rebalance may take apart from the session time-out; adds rebalanceTimeoutMs to the request
//   2  adds throttleTimeMs to the response
//   3  is as 2: the client waits itself when it is throttled
//   4  a new member is sent back with its member id first
//   5  brings static members; adds groupInstanceId to request and response
//   6  is flexible
//   7  tells the type of protocol; adds protocolType to the response; allows null as protocolName in the response
//   8  can say why; adds reason to the request
//   9  can tell the leader that a static member has come back and nothing is to be assigned; adds skipAssignment to the
//      response

import { array, bool, bytes, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const JoinGroupRequest = message({
  name: 'JoinGroupRequest',
  type: 'request',
  apiKey: 11,
  versions: '0-9',
  flexible: '6+',
  fields: {
    groupId: string(),
    /** A member that does not show up for so long is taken for dead. */
    sessionTimeoutMs: int32(),
    /** How long other members wait for this one when a rebalance has begun; -1: as long as the session time-out. */
    rebalanceTimeoutMs: int32({ versions: '1+', default: -1, ignorable: true }),
    /** Empty: a new member. */
    memberId: string(),
    /** The lasting name of a static member; null: the member is not static. */
    groupInstanceId: string({ versions: '5+', nullable: '0+', default: null }),
    /** What kind of group it is: `consumer`, `connect`, …. */
    protocolType: string(),
    /** What the member supports, best first. */
    protocols: array(
      struct({
        /** For consumers: the name of an assignor. */
        name: string(),
        /** For consumers: a ConsumerProtocolSubscription after its version. */
        metadata: bytes(),
      }),
    ),
    /** Why the member joins again. */
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
    /** -1 with an error. */
    generationId: int32({ default: -1 }),
    protocolType: string({ versions: '7+', nullable: '0+', default: null, ignorable: true }),
    /** What all members support and most prefer. */
    protocolName: string({ nullable: '7+' }),
    /** The member that has to assign. */
    leader: string(),
    /** Whether the leader leaves the assignment as it is. */
    skipAssignment: bool({ versions: '9+' }),
    /** Given to a new member. */
    memberId: string(),
    /** All of them, for the leader; empty for the others. */
    members: array(
      struct({
        memberId: string(),
        groupInstanceId: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
        /** Of the chosen protocol. */
        metadata: bytes(),
      }),
    ),
  },
});
export type JoinGroupResponse = Message<typeof JoinGroupResponse>;
