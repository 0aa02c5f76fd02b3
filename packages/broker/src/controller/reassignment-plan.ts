// Moving a partition to other brokers, as values. While a move is under way the partition has all replicas, those that come and
// those that go too; the target is what is left when those that go are gone, the origin what there was before those that come.
//
//   assigned = target, then what of the origin is not in it        adding ⊆ target, removing ⊆ origin

export interface ReplicaAssignment {
  /** All: those that come and those that go too. */
  readonly assignedReplicas: readonly number[];
  readonly addingReplicas: readonly number[];
  readonly removingReplicas: readonly number[];
}

export function isBeingReassigned({ addingReplicas, removingReplicas }: ReplicaAssignment): boolean {
  return addingReplicas.length + removingReplicas.length > 0;
}

export function originReplicas({ assignedReplicas, addingReplicas }: ReplicaAssignment): number[] {
  return assignedReplicas.filter((replica) => !addingReplicas.includes(replica));
}

export function targetReplicas({ assignedReplicas, removingReplicas }: ReplicaAssignment): number[] {
  return assignedReplicas.filter((replica) => !removingReplicas.includes(replica));
}

/** The assignment while the partition moves from where it was to the target: also when the target is changed on the way. */
export function reassignTo(current: ReplicaAssignment, target: readonly number[]): ReplicaAssignment {
  const origin = originReplicas(current);
  const assignedReplicas = [...new Set([...target, ...origin])];
  return {
    assignedReplicas,
    addingReplicas: assignedReplicas.filter((replica) => !origin.includes(replica)),
    removingReplicas: assignedReplicas.filter((replica) => !target.includes(replica)),
  };
}

/** undefined: the partition may move there. */
export function targetProblem(
  current: ReplicaAssignment,
  target: readonly number[],
  isLive: (brokerId: number) => boolean,
): string | undefined {
  if (target.length === 0) return 'The list of replicas is empty.';
  if (new Set(target).size < target.length) return `The list of replicas names a broker more than once: ${target.join(', ')}.`;
  if (target.some((replica) => replica < 0)) return `The list of replicas names an impossible broker: ${target.join(', ')}.`;
  const dead = reassignTo(current, target).addingReplicas.filter((replica) => !isLive(replica));
  return dead.length === 0 ? undefined : `The list of replicas names brokers that are not alive: ${dead.join(', ')}.`;
}

/** Whether two assignments say the same. */
export function isSameAssignment(one: ReplicaAssignment, other: ReplicaAssignment): boolean {
  return (
    isSameList(one.assignedReplicas, other.assignedReplicas) &&
    isSameList(one.addingReplicas, other.addingReplicas) &&
    isSameList(one.removingReplicas, other.removingReplicas)
  );
}

export function isSameList(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((element, index) => element === other[index]);
}
