// What a consumer tells the leader of its classic group: the metadata in JoinGroup. An int16, the version, goes before it; a
// reader takes a version above its own for its own highest.
// Version 1 adds ownedPartitions, 2 generationId and 3 rackId.

import { array, bytes, int32, type Message, message, string, struct } from '../schema/define.ts';

export const ConsumerProtocolSubscription = message({
  name: 'ConsumerProtocolSubscription',
  type: 'data',
  versions: '0-3',
  flexible: 'none',
  fields: {
    topics: array(string()),
    /** For assignors. */
    userData: bytes({ nullable: '0+', default: null }),
    /** What a cooperative member still has. */
    ownedPartitions: array(
      struct({
        topic: string(),
        partitions: array(int32()),
      }),
      { versions: '1+', ignorable: true },
    ),
    /** In which it had them; -1 when unknown. */
    generationId: int32({ versions: '2+', default: -1, ignorable: true }),
    rackId: string({ versions: '3+', nullable: '0+', default: null, ignorable: true }),
  },
});
export type ConsumerProtocolSubscription = Message<typeof ConsumerProtocolSubscription>;
