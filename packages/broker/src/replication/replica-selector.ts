// Which replica a consumer should read from: the leader, or one in the consumer's own rack (KIP-392).

import { ConfigError } from '@odradek/runtime';

/** A replica that has what the consumer wants, as the leader sees it. */
export interface ReplicaView {
  readonly brokerId: number;
  /** null: its broker is in no rack. */
  readonly rack: string | null;
  readonly logEndOffset: number;
  /** Monotonic time at which it had last all that the leader had. */
  readonly lastCaughtUpMs: number;
}

/** Chooses among the replicas, of which the first is the leader. */
export type ReplicaSelector = (rackId: string, replicas: readonly ReplicaView[]) => ReplicaView | undefined;

const leaderSelector = 'org.apache.kafka.common.replica.LeaderSelector';
const rackAwareSelector = 'org.apache.kafka.common.replica.RackAwareReplicaSelector';

/** The selector that replica.selector.class names; undefined: everybody reads from the leader. Throws ConfigError for another Java class. */
export function replicaSelector(className: string | null): ReplicaSelector | undefined {
  if (className === null || className === '' || className === leaderSelector) return undefined;
  if (className === rackAwareSelector) return selectByRack;
  throw new ConfigError(
    `replica.selector.class: Odradek runs no Java classes, and knows ${rackAwareSelector} and ${leaderSelector} by name only, not ${className}`,
  );
}

/** In the consumer's rack the leader, or else the replica that is furthest; without any there the leader. */
export function selectByRack(rackId: string, replicas: readonly ReplicaView[]): ReplicaView | undefined {
  const [leader] = replicas;
  if (rackId === '' || leader === undefined || leader.rack === rackId) return leader;
  let best: ReplicaView | undefined;
  for (const replica of replicas) {
    if (replica.rack === rackId && (best === undefined || isFurther(replica, best))) best = replica;
  }
  return best ?? leader;
}

function isFurther(one: ReplicaView, other: ReplicaView): boolean {
  if (one.logEndOffset !== other.logEndOffset) return one.logEndOffset > other.logEndOffset;
  if (one.lastCaughtUpMs !== other.lastCaughtUpMs) return one.lastCaughtUpMs > other.lastCaughtUpMs;
  return one.brokerId > other.brokerId;
}
