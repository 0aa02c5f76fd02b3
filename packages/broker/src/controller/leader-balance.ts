// Which partitions should go back to their preferred leaders: those of brokers of whose partitions too many are led elsewhere. Pure.

export interface BalancedPartition {
  /** The first is the preferred leader. */
  readonly assignedReplicas: readonly number[];
  /** -1: none. */
  readonly leader: number;
}

/**
 * The partitions that a broker should lead and does not, of those brokers where more than `maxImbalancePercent` of the partitions
 * are led elsewhere.
 */
export function imbalancedPartitions<P extends BalancedPartition>(partitions: Iterable<P>, maxImbalancePercent: number): P[] {
  const byPreferredLeader = Map.groupBy(partitions, ({ assignedReplicas }) => assignedReplicas[0]);
  return [...byPreferredLeader].flatMap(([preferredLeader, preferring]) => {
    const ledElsewhere = preferring.filter(({ leader }) => leader !== preferredLeader);
    return ledElsewhere.length / preferring.length > maxImbalancePercent / 100 ? ledElsewhere : [];
  });
}
