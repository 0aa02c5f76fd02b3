// What the leader of a classic group gives to each consumer: the assignment in SyncGroup. An int16, the version, goes before
// it. All versions have the same layout.

import { array, bytes, int32, type Message, message, string, struct } from '../schema/define.ts';

export const ConsumerProtocolAssignment = message({
  name: 'ConsumerProtocolAssignment',
  type: 'data',
  versions: '0-3',
  flexible: 'none',
  fields: {
    assignedPartitions: array(
      struct({
        topic: string(),
        partitions: array(int32()),
      }),
    ),
    userData: bytes({ nullable: '0+', default: null }),
  },
});
export type ConsumerProtocolAssignment = Message<typeof ConsumerProtocolAssignment>;
