// When committed offsets are forgotten (KIP-211): never while somebody may still need them. Pure rules.

import type { CommittedOffset } from './group-offsets.ts';

/**
 * How the offsets of a group grow old: from when the retention of an offset counts. null: the offset does not expire, because
 * its topic is still read, or because the group is in between.
 */
export type OffsetExpiry = (topic: string, offset: CommittedOffset) => number | null;

export const neverExpires: OffsetExpiry = () => null;
export const expiresAfterCommit: OffsetExpiry = (_topic, offset) => offset.commitTimestampMs;

/** Counts from when the group became empty; older records do not say when that was. */
export function expiresAfterEmpty(emptySinceMs: number): OffsetExpiry {
  return emptySinceMs === -1 ? expiresAfterCommit : () => emptySinceMs;
}

export function expiresUnlessSubscribed(isSubscribed: (topic: string) => boolean): OffsetExpiry {
  return (topic, offset) => (isSubscribed(topic) ? null : offset.commitTimestampMs);
}

/** Whether an offset is to be forgotten now. */
export function isExpired(
  expiry: OffsetExpiry,
  topic: string,
  offset: CommittedOffset,
  nowMs: number,
  retentionMs: number,
): boolean {
  const sinceMs = expiry(topic, offset);
  if (sinceMs === null) return false;
  if (offset.expireTimestampMs !== null) return nowMs >= offset.expireTimestampMs;
  return nowMs - sinceMs >= retentionMs;
}
