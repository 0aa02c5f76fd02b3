// Where a follower cuts off what its leader does not have: the rules, as functions of values (KIP-101, KIP-279).
//
// The follower asks the leader for the end of the last epoch in its own log. The leader answers the largest epoch that it knows and that
// is not above that one, with its end in the leader's log. What both have of that epoch is common; what the follower has beyond is not.
//
//   follower   0 0 0 1 1 1          leader   0 0 0 0 2 2        asked for epoch 1 -> answered epoch 0, end 4
//                    ^ cut off at 3: the follower's own epoch 0 ends there

/** The largest epoch not above the one asked for, and its end; -1 for both: nothing is known. Leaders before Kafka 2.0 tell no epoch. */
export interface EpochEndAnswer {
  readonly leaderEpoch: number;
  readonly endOffset: number;
}

export interface FollowerLog {
  readonly logEndOffset: number;
  /** As the leader's answer, of the follower's own log. */
  endOffsetForEpoch(epoch: number): EpochEndAnswer;
}

export interface Truncation {
  readonly offset: number;
  /** False: what is left may still not be the leader's; it must be asked again, for an earlier epoch. */
  readonly isComplete: boolean;
}

const unknown = -1;

/** `highWatermark` is that of the follower, the fallback: what lies before it every leader has, if only clean elections were held. */
export function truncationFor(answer: EpochEndAnswer, log: FollowerLog, highWatermark: number): Truncation {
  const { logEndOffset } = log;
  if (answer.endOffset === unknown) return { offset: Math.min(highWatermark, logEndOffset), isComplete: true };
  if (answer.leaderEpoch === unknown) return { offset: Math.min(answer.endOffset, logEndOffset), isComplete: true };
  const own = log.endOffsetForEpoch(answer.leaderEpoch);
  if (own.endOffset === unknown) return { offset: Math.min(answer.endOffset, logEndOffset), isComplete: true };
  if (own.leaderEpoch !== answer.leaderEpoch) {
    // The follower has nothing of that epoch: go back to where its next smaller one ends, and ask for that.
    return { offset: Math.min(own.endOffset, logEndOffset), isComplete: false };
  }
  return { offset: Math.min(own.endOffset, answer.endOffset, logEndOffset), isComplete: true };
}

export type OutOfRange =
  /** The leader ends before the follower: after an unclean election. What lies beyond goes. */
  | { readonly type: 'truncate'; readonly offset: number }
  /** The leader begins after the follower's end: nothing here is of use. */
  | { readonly type: 'restart'; readonly offset: number }
  /** The follower's end is within the leader's log after all. */
  | { readonly type: 'goOn'; readonly offset: number };

/** What a follower does whose offset the leader does not have. The leader's start is asked for only where its end says so. */
export async function afterOutOfRange(
  logEndOffset: number,
  leaderEnd: number,
  leaderStart: () => Promise<number>,
): Promise<OutOfRange> {
  if (leaderEnd < logEndOffset) return { type: 'truncate', offset: leaderEnd };
  const startOffset = await leaderStart();
  if (startOffset > logEndOffset) return { type: 'restart', offset: startOffset };
  return { type: 'goOn', offset: logEndOffset };
}
