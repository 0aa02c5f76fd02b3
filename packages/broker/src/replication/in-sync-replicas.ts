// The rules of replication, as functions of values: which followers are in sync, and how far the high watermark may go.

/** What the rules look at in a follower. */
export interface FollowerPosition {
  readonly brokerId: number;
  readonly logEndOffset: number;
  readonly lastCaughtUpMs: number;
}

/**
 * The offset that every in-sync replica has reached. A follower that has caught up lately but is not in the set yet counts
 * too: it is about to be added, and must then have everything below the high watermark.
 */
export function highWatermarkOf(
  leaderEndOffset: number,
  inSyncReplicas: ReadonlySet<number>,
  followers: Iterable<FollowerPosition>,
  lagLimit: { readonly nowMs: number; readonly maxLagMs: number },
): number {
  let lowest = leaderEndOffset;
  for (const follower of followers) {
    const counts = inSyncReplicas.has(follower.brokerId) || lagLimit.nowMs - follower.lastCaughtUpMs <= lagLimit.maxLagMs;
    if (counts && follower.logEndOffset < lowest) lowest = follower.logEndOffset;
  }
  return lowest;
}

/** A follower may join the in-sync replicas once it has the committed part of the log and everything of this leader's reign. */
export function mayJoin(follower: FollowerPosition, highWatermark: number, leaderEpochStartOffset: number): boolean {
  return follower.logEndOffset >= highWatermark && follower.logEndOffset >= leaderEpochStartOffset;
}

/** In-sync followers that are behind the leader and have not been level with it for longer than `maxLagMs`. */
export function laggards(
  leaderEndOffset: number,
  inSyncReplicas: ReadonlySet<number>,
  followers: Iterable<FollowerPosition>,
  lagLimit: { readonly nowMs: number; readonly maxLagMs: number },
): number[] {
  const late: number[] = [];
  for (const follower of followers) {
    if (!inSyncReplicas.has(follower.brokerId) || follower.logEndOffset === leaderEndOffset) continue;
    if (lagLimit.nowMs - follower.lastCaughtUpMs > lagLimit.maxLagMs) late.push(follower.brokerId);
  }
  return late;
}

/** Whether a produce request with acks=all may be accepted at all. `minInSyncReplicas` never asks for more than are assigned. */
export function hasEnoughInSync(inSyncCount: number, minInSyncReplicas: number, assignedCount: number): boolean {
  return inSyncCount >= Math.min(minInSyncReplicas, assignedCount);
}
