// Records of __consumer_offsets that hold classic groups: one record is the whole group. An int16 goes before the key and says
// what the record is (recordType); one before the value says its version.
// Version 1 adds rebalanceTimeout, 2 currentStateTimestamp, 3 groupInstanceId, and 4 is flexible. Without a value the group is
// gone.

import { array, bytes, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const GroupMetadataKey = message({
  name: 'GroupMetadataKey',
  type: 'data',
  recordType: 2,
  versions: '0',
  flexible: 'none',
  fields: {
    group: string(),
  },
});
export type GroupMetadataKey = Message<typeof GroupMetadataKey>;

const memberMetadata = struct({
  memberId: string(),
  groupInstanceId: string({ versions: '3+', nullable: '0+', default: null, ignorable: true }),
  clientId: string(),
  clientHost: string(),
  rebalanceTimeout: int32({ versions: '1+', default: -1, ignorable: true }),
  sessionTimeout: int32(),
  subscription: bytes(),
  assignment: bytes(),
});

export const GroupMetadataValue = message({
  name: 'GroupMetadataValue',
  type: 'data',
  versions: '0-4',
  flexible: '4+',
  fields: {
    protocolType: string(),
    /** Of the group as it was written. */
    generation: int32(),
    /** Null: the group has no members. */
    protocol: string({ nullable: '0+' }),
    /** Null: the group has no members. */
    leader: string({ nullable: '0+' }),
    /** When it came into its state; -1 when unknown. */
    currentStateTimestamp: int64({ versions: '2+', default: -1, ignorable: true }),
    members: array(memberMetadata),
  },
});
export type GroupMetadataValue = Message<typeof GroupMetadataValue>;
