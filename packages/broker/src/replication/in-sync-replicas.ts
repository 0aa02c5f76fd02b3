// The rules of replication, as functions of values: which followers are in sync, and how far the high watermark may go.
//
// The in-sync replicas are agreed on with the controller, which chooses the next leader among them. From the moment at which a leader
// asks for one more until it knows the answer, the newcomer may be in the set or not; so the high watermark waits for it
// (`largestSet`). One that is to leave counts until the controller has agreed.

import { errorCodes } from '@odradek/protocol';

export type InSyncState =
  | { readonly kind: 'agreed'; readonly isr: ReadonlySet<number> }
  /** `isr` was agreed on last, `proposed` has been asked for. */
  | { readonly kind: 'growing' | 'shrinking'; readonly isr: ReadonlySet<number>; readonly proposed: ReadonlySet<number> };

export type Proposal = Exclude<InSyncState, { readonly kind: 'agreed' }>;

/** Every replica that the controller may take for in sync. */
export function largestSet(state: InSyncState): ReadonlySet<number> {
  return state.kind === 'growing' ? state.proposed : state.isr;
}

export function withReplica(isr: ReadonlySet<number>, brokerId: number): Proposal {
  return { kind: 'growing', isr, proposed: new Set([...isr, brokerId]) };
}

export function withoutReplicas(isr: ReadonlySet<number>, leaving: readonly number[]): Proposal {
  return { kind: 'shrinking', isr, proposed: new Set([...isr].filter((brokerId) => !leaving.includes(brokerId))) };
}

/**
 * What a leader does when the controller refuses its proposal. `withdraw`: nothing has been changed, what was agreed on holds. `wait`: the
 * controller knows something newer, which it will tell; until then the proposal may be in force. `repeat`: sooner or later it will
 * answer.
 */
export function afterRefusal(errorCode: number): 'withdraw' | 'wait' | 'repeat' {
  switch (errorCode) {
    case errorCodes.OPERATION_NOT_ATTEMPTED:
    case errorCodes.INELIGIBLE_REPLICA:
    case errorCodes.INVALID_REQUEST:
      return 'withdraw';
    case errorCodes.FENCED_LEADER_EPOCH:
    case errorCodes.INVALID_UPDATE_VERSION:
    case errorCodes.NEW_LEADER_ELECTED:
      return 'wait';
    // Also for a topic that is not known: a controller that has just come may not have read it yet, and has nothing newer to tell.
    default:
      return 'repeat';
  }
}

/** What the rules look at in a follower. */
export interface FollowerPosition {
  readonly brokerId: number;
  readonly logEndOffset: number;
  readonly lastCaughtUpMs: number;
}

/**
 * The offset that every in-sync replica has reached. A follower that has caught up lately but is not in the set yet counts
 * too: it is about to be added, and must then have everything below the high watermark. One that could not
 * be, because its broker is not alive, does not count.
 */
export function highWatermarkOf(
  leaderEndOffset: number,
  inSyncReplicas: ReadonlySet<number>,
  followers: Iterable<FollowerPosition>,
  lagLimit: { readonly nowMs: number; readonly maxLagMs: number },
  isEligible: (brokerId: number) => boolean = () => true,
): number {
  let lowest = leaderEndOffset;
  for (const follower of followers) {
    if (follower.logEndOffset >= lowest) continue;
    const isAboutToJoin = lagLimit.nowMs - follower.lastCaughtUpMs <= lagLimit.maxLagMs && isEligible(follower.brokerId);
    if (inSyncReplicas.has(follower.brokerId) || isAboutToJoin) lowest = follower.logEndOffset;
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
