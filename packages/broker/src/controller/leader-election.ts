// Who leads a partition. Pure: replicas, in-sync replicas and who is alive go in, the new leader and in-sync replicas come out.

export interface Candidates {
  /** In order of preference. */
  readonly assignedReplicas: readonly number[];
  readonly isr: readonly number[];
  /** The replica's broker is alive, not shutting down, and its log directory is in order. */
  readonly isOnline: (replica: number) => boolean;
}

export interface Elected {
  readonly leader: number;
  readonly isr: readonly number[];
  /** The leader was not in sync: records may have been lost. */
  readonly isUnclean: boolean;
}

/** The leader is gone: the first live in-sync replica; if there is none, and the topic allows it, the first live one. */
export function electAfterFailure({ assignedReplicas, isr, isOnline }: Candidates, isUncleanAllowed: boolean): Elected | undefined {
  const leader = assignedReplicas.find((replica) => isOnline(replica) && isr.includes(replica));
  if (leader !== undefined) return { leader, isr: isr.filter(isOnline), isUnclean: false };
  const outOfSync = isUncleanAllowed ? assignedReplicas.find(isOnline) : undefined;
  return outOfSync === undefined ? undefined : { leader: outOfSync, isr: [outOfSync], isUnclean: true };
}

/** The leader is not among the replicas that a reassignment aims at. */
export function electForReassignment({ isr, isOnline }: Candidates, targetReplicas: readonly number[]): Elected | undefined {
  const leader = targetReplicas.find((replica) => isOnline(replica) && isr.includes(replica));
  return leader === undefined ? undefined : { leader, isr, isUnclean: false };
}

/** Leadership goes back to the first of the assigned replicas, if it can lead. */
export function electPreferred({ assignedReplicas, isr, isOnline }: Candidates): Elected | undefined {
  const [preferred] = assignedReplicas;
  return preferred !== undefined && isOnline(preferred) && isr.includes(preferred)
    ? { leader: preferred, isr, isUnclean: false }
    : undefined;
}

/** The leader is about to stop; the brokers that are stopping leave the in-sync replicas. */
export function electForShutdown(
  { assignedReplicas, isr, isOnline }: Candidates,
  isShuttingDown: (replica: number) => boolean,
): Elected | undefined {
  const leader = assignedReplicas.find((replica) => isOnline(replica) && isr.includes(replica) && !isShuttingDown(replica));
  return leader === undefined ? undefined : { leader, isr: isr.filter((replica) => !isShuttingDown(replica)), isUnclean: false };
}
