// Two folders for one partition: which of them a crash, or a disk that was away, has left over.

import { zeroUuid } from '@odradek/protocol';

export interface ContendingLog {
  readonly topicId: string;
  readonly latestEpoch: number | undefined;
  readonly logEndOffset: number;
  /** When its folder was made, wall time in ms. */
  readonly createdMs: number;
}

/**
 * Of one topic, the log that goes less far: it stayed behind when the other one took its place. Of two topics of one name, the one
 * that was made first: its disk was away when the topic was deleted.
 */
export function leftOverOf<L extends ContendingLog>(one: L, other: L): { readonly log: L; readonly isOfOtherTopic: boolean } {
  const isOfOtherTopic = one.topicId !== other.topicId && one.topicId !== zeroUuid && other.topicId !== zeroUuid;
  if (isOfOtherTopic) return { log: one.createdMs < other.createdMs ? one : other, isOfOtherTopic };
  const [epoch, otherEpoch] = [one.latestEpoch ?? -1, other.latestEpoch ?? -1];
  const isOneBehind = epoch === otherEpoch ? one.logEndOffset < other.logEndOffset : epoch < otherEpoch;
  return { log: isOneBehind ? one : other, isOfOtherTopic };
}
