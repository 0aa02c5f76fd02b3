// A request to delete records waits until the low watermark of each of its partitions has passed the offset that it asked for:
// then no replica in sync has the records any more.

import { errorCodes } from '@odradek/protocol';
import type { Partition } from '../replication/partition.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import type { DelayedOperation } from './delayed-operation.ts';

export interface AwaitedDeletion {
  readonly partition: Partition;
  readonly requiredOffset: number;
  /** The outcome: where the logs start now, and the error once there is an outcome. */
  lowWatermark: number;
  errorCode: number | undefined;
}

/** Settles when each deletion has its outcome. */
export function deletedEverywhere(
  replicaManager: ReplicaManager,
  deletions: readonly AwaitedDeletion[],
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const partitions = deletions.map(({ partition }) => partition);
    replicaManager.delayedDeletions.watch(new DelayedDeleteRecords(deletions, resolve), partitions, timeoutMs);
  });
}

class DelayedDeleteRecords implements DelayedOperation<Partition> {
  readonly #deletions: readonly AwaitedDeletion[];
  readonly #done: () => void;

  constructor(deletions: readonly AwaitedDeletion[], done: () => void) {
    this.#deletions = deletions;
    this.#done = done;
  }

  tryComplete(): boolean {
    let isComplete = true;
    for (const deletion of this.#deletions) {
      if (deletion.errorCode === undefined && !tryFinish(deletion)) isComplete = false;
    }
    if (isComplete) this.#done();
    return isComplete;
  }

  expire(): void {
    for (const deletion of this.#deletions) deletion.errorCode ??= errorCodes.REQUEST_TIMED_OUT;
    this.#done();
  }
}

function tryFinish(deletion: AwaitedDeletion): boolean {
  const { partition, requiredOffset } = deletion;
  if (partition.isOffline) deletion.errorCode = errorCodes.KAFKA_STORAGE_ERROR;
  else if (!partition.isLeader) deletion.errorCode = errorCodes.NOT_LEADER_OR_FOLLOWER;
  else if (partition.lowWatermark >= requiredOffset) {
    deletion.lowWatermark = partition.lowWatermark;
    deletion.errorCode = errorCodes.NONE;
  } else return false;
  return true;
}
