// What a coordinator needs of the partitions of its internal topic, and nothing more: to append, to know when that is
// committed, and to read everything from the start.

import type { CoordinatorRecord } from './coordinator-shard.ts';

export interface CoordinatorReplay {
  /** False: the load was overtaken (another leader, a later epoch) and may stop. */
  isWanted(): boolean;
  /** `producerId` is -1 outside of a transaction. */
  record(record: CoordinatorRecord, offset: number, producerId: number): void;
  endTransaction(producerId: number, isCommitted: boolean): void;
}

export interface AppendedRecords {
  /** The offset of the first record; the others follow without a gap. */
  readonly firstOffset: number;
  /**
   * Settles when all in-sync replicas have the records, however long that takes. Rejects when this broker leads the partition no
   * more, or its disk failed: then nobody here can know what became of them.
   */
  readonly committed: Promise<void>;
}

export interface Replayed {
  /** As that of appended records, for what was read. */
  readonly committed: Promise<void>;
}

export interface CoordinatorPartitions {
  /** How many partitions the topic has, or will have once it is made. */
  readonly count: number;
  /** How many bytes of records one batch may hold. */
  maxBatchBytes(partition: number): number;
  /** Appends the records as one batch. Throws at once, and changes nothing, when the log refuses them. */
  append(partition: number, leaderEpoch: number, records: readonly CoordinatorRecord[]): AppendedRecords;
  /** Reads the partition from its first record to the end it has when the reading begins, giving way to other work in between. */
  replay(partition: number, target: CoordinatorReplay): Promise<Replayed>;
}
