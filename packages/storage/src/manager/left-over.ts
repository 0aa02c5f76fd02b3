// Two folders for one partition: which of them a crash, or a disk that was away, has left over.

import { zeroUuid } from '@odradek/protocol';
import type { PartitionLog } from '../log/partition-log.ts';

export interface ContendingLog {
  readonly topicId: string;
  readonly logStartOffset: number;
  /** When its folder was made, wall time in ms. */
  readonly createdMs: number;
}

/**
 * A log all of whose records the other one has, or had: it stayed behind when that took its place. Where both have the same records, the
 * one in which fewer of them have been deleted. Else the one that was made first: its disk was away when the topic was deleted, or the
 * partition made anew; what it has may be wanted by somebody.
 */
export function leftOverOf<L extends ContendingLog>(
  one: L,
  other: L,
  isContained: (log: L, other: L) => boolean,
): { readonly log: L; readonly hasOwnRecords: boolean } {
  const isOneTopic = one.topicId === other.topicId || one.topicId === zeroUuid || other.topicId === zeroUuid;
  const isOtherIn = isOneTopic && isContained(other, one);
  const isOneIn = isOneTopic && isContained(one, other);
  if (isOneIn && (!isOtherIn || one.logStartOffset < other.logStartOffset)) return { log: one, hasOwnRecords: false };
  if (isOtherIn) return { log: other, hasOwnRecords: false };
  return { log: one.createdMs < other.createdMs ? one : other, hasOwnRecords: true };
}

/**
 * Whether all records of the log are in the other one, as after a move, or were before they were deleted there. A log that was made anew
 * in its place has others. One of which nothing is left says only where it ends.
 */
export function isContained(log: PartitionLog, other: PartitionLog): boolean {
  if (log.logEndOffset === log.logStartOffset) return log.logEndOffset <= other.logEndOffset;
  return batchWith(log.logEndOffset - 1, log)?.equals(batchWith(log.logEndOffset - 1, other) ?? Buffer.alloc(0)) === true;
}

/** The batch's bytes, the checksum of its records among them; undefined: there is none. */
function batchWith(offset: number, log: PartitionLog): Buffer | undefined {
  const segment = log.segments.at(Math.max(0, log.segments.floorIndex(offset)));
  const found = segment?.positionOf(offset);
  return found === undefined ? undefined : segment?.records.batchAt(found.position, found.sizeBytes).bytes();
}
