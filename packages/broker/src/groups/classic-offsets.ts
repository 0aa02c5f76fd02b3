// What a classic group says of offsets: who may commit them now, which may be deleted, and how they grow old. Pure rules.

import { errorCodes } from '@odradek/protocol';
import type { ClassicGroup } from './classic-group.ts';
import { identityProblem } from './classic-membership.ts';
import {
  expiresAfterCommit,
  expiresAfterEmpty,
  expiresUnlessSubscribed,
  neverExpires,
  type OffsetExpiry,
} from './offset-expiry.ts';

export interface Committer {
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  /** The generation of a classic group, or the epoch of a member of a consumer group; -1: not as a member. */
  readonly generationId: number;
}

/** Why the committer may not commit; null when it may. */
export function classicCommitProblem(group: ClassicGroup, committer: Committer): number | null {
  const { memberId, groupInstanceId, generationId } = committer;
  // Administrators, and consumers that assign partitions themselves, commit for groups in which nobody is.
  if (generationId < 0 && group.isEmpty) return null;
  // Without member and generation it could be anyone, and the members would find their offsets changed.
  const problem = identityProblem(group, memberId, groupInstanceId);
  if (problem !== null) return problem;
  if (generationId !== group.generationId) return errorCodes.ILLEGAL_GENERATION;
  // It has heard of the generation, and so has joined it; it shall sync first.
  return group.state === 'CompletingRebalance' ? errorCodes.REBALANCE_IN_PROGRESS : null;
}

export function classicOffsetExpiry(group: ClassicGroup): OffsetExpiry {
  // Nobody ever joined, so nobody can have left.
  if (group.protocolType === null) return expiresAfterCommit;
  if (group.isEmpty) return expiresAfterEmpty(group.stateTimestampMs);
  if (group.state !== 'Stable' || !group.isConsumerGroup || group.subscribedTopics === null) return neverExpires;
  return expiresUnlessSubscribed((topic) => group.isSubscribedTo(topic));
}
