// Two folders for one partition: which of them a crash, or a disk that was away, has left over.

import { zeroUuid } from '@odradek/protocol';

export interface ContendingLog {
  readonly topicId: string;
  /** When its folder was made, wall time in ms. */
  readonly createdMs: number;
}

/**
 * A log all of whose records the other one has: it stayed behind when that took its place. Else the one that was made first: its disk
 * was away when the topic was deleted, or the partition made anew; what it has may be wanted by somebody.
 */
export function leftOverOf<L extends ContendingLog>(
  one: L,
  other: L,
  isContained: (log: L, other: L) => boolean,
): { readonly log: L; readonly hasOwnRecords: boolean } {
  const isOneTopic = one.topicId === other.topicId || one.topicId === zeroUuid || other.topicId === zeroUuid;
  if (isOneTopic && isContained(other, one)) return { log: other, hasOwnRecords: false };
  if (isOneTopic && isContained(one, other)) return { log: one, hasOwnRecords: false };
  return { log: one.createdMs < other.createdMs ? one : other, hasOwnRecords: true };
}
