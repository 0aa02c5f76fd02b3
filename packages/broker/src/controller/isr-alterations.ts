// What becomes of a leader's wish to change its in-sync replicas (AlterPartition). Pure: what the controller knows and what the leader
// wants go in, and out comes the state to be written, or why not.

import { errorCodes } from '@odradek/protocol';
import type { Leadership } from './controller-context.ts';

/** What a leader wants of one partition. */
export interface IsrAlteration {
  readonly leader: number;
  readonly leaderEpoch: number;
  readonly isr: readonly number[];
  readonly isLeaderRecovering: boolean;
  /** Of the state that the leader knows. */
  readonly partitionEpoch: number;
}

export type IsrDecision =
  | { readonly type: 'write'; readonly leadership: Leadership }
  /** The partition is as the leader wants it: an answer was lost. */
  | { readonly type: 'unchanged' }
  | { readonly type: 'refused'; readonly errorCode: number };

export function decideAlteration(
  wanted: IsrAlteration,
  current: Leadership,
  rules: { readonly controllerEpoch: number; readonly isEligible: (replica: number) => boolean; readonly ineligibleCode: number },
): IsrDecision {
  // A leader that is ahead has heard of another controller.
  if (wanted.partitionEpoch > current.partitionEpoch || wanted.leaderEpoch > current.leaderEpoch)
    return refused(errorCodes.NOT_CONTROLLER);
  if (wanted.leaderEpoch < current.leaderEpoch) return refused(errorCodes.FENCED_LEADER_EPOCH);
  if (isAsWanted(wanted, current)) return { type: 'unchanged' };
  if (wanted.partitionEpoch < current.partitionEpoch) return refused(errorCodes.INVALID_UPDATE_VERSION);
  // A leader that recovers from an unclean election is alone, and one that has recovered does not begin again.
  if (wanted.isLeaderRecovering && (wanted.isr.length > 1 || !current.isLeaderRecovering))
    return refused(errorCodes.INVALID_REQUEST);
  if (!wanted.isr.every(rules.isEligible)) return refused(rules.ineligibleCode);
  return {
    type: 'write',
    leadership: {
      leader: wanted.leader,
      leaderEpoch: wanted.leaderEpoch,
      isr: wanted.isr,
      isLeaderRecovering: wanted.isLeaderRecovering,
      controllerEpoch: rules.controllerEpoch,
      partitionEpoch: wanted.partitionEpoch,
    },
  };
}

function isAsWanted(wanted: IsrAlteration, current: Leadership): boolean {
  return (
    wanted.leader === current.leader &&
    wanted.leaderEpoch === current.leaderEpoch &&
    wanted.isLeaderRecovering === current.isLeaderRecovering &&
    wanted.isr.length === current.isr.length &&
    wanted.isr.every((replica, index) => replica === current.isr[index])
  );
}

function refused(errorCode: number): IsrDecision {
  return { type: 'refused', errorCode };
}
