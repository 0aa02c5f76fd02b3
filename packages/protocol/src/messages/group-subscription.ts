// What a consumer tells the leader of its classic group: metadata within JoinGroup. An int16 version precedes it.

import { array, bytes, int32, type Message, message, string, struct } from '../schema/define.ts';

export const ConsumerProtocolSubscription = message({
  name: 'ConsumerProtocolSubscription',
  type: 'data',
  versions: '0-3',
  flexible: 'none',
  fields: {
    topics: array(string()),
    userData: bytes({ nullable: '0+', default: null }),
    ownedPartitions: array(
      struct({
        topic: string(),
        partitions: array(int32()),
      }),
      { versions: '1+', ignorable: true },
    ),
    generationId: int32({ versions: '2+', default: -1, ignorable: true }),
    rackId: string({ versions: '3+', nullable: '0+', default: null, ignorable: true }),
  },
});
export type ConsumerProtocolSubscription = Message<typeof ConsumerProtocolSubscription>;
