// A produce request with acks=all waits until the high watermark of each of its partitions has passed what it appended.

import { errorCodes } from '@odradek/protocol';
import type { Partition } from '../replication/partition.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import type { DelayedOperation } from './delayed-operation.ts';

export interface AwaitedAppend {
  readonly partition: Partition;
  /** The high watermark that is waited for. */
  readonly requiredOffset: number;
  /** What `leadingSinceEpoch` was when it was appended: while this broker leads on, in whatever epoch, the records stay. */
  readonly leadingSinceEpoch: number;
  /** The outcome, once there is one. */
  errorCode: number | undefined;
}

/** Settles when each append has its outcome. */
export function replicated(replicaManager: ReplicaManager, appends: readonly AwaitedAppend[], timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const operation = new DelayedProduce(appends, resolve);
    const partitions = appends.map(({ partition }) => partition);
    replicaManager.delayedProduces.watch(operation, partitions, timeoutMs);
  });
}

class DelayedProduce implements DelayedOperation<Partition> {
  readonly #appends: readonly AwaitedAppend[];
  readonly #done: () => void;

  constructor(appends: readonly AwaitedAppend[], done: () => void) {
    this.#appends = appends;
    this.#done = done;
  }

  tryComplete(): boolean {
    let isComplete = true;
    for (const append of this.#appends) {
      append.errorCode ??= outcomeOf(append);
      if (append.errorCode === undefined) isComplete = false;
    }
    if (isComplete) this.#done();
    return isComplete;
  }

  expire(): void {
    for (const append of this.#appends) append.errorCode ??= errorCodes.REQUEST_TIMED_OUT;
    this.#done();
  }
}

function outcomeOf({ partition, requiredOffset, leadingSinceEpoch }: AwaitedAppend): number | undefined {
  if (partition.isOffline) return errorCodes.KAFKA_STORAGE_ERROR;
  if (!partition.isLeader || partition.leadingSinceEpoch !== leadingSinceEpoch) return errorCodes.NOT_LEADER_OR_FOLLOWER;
  if (partition.log.highWatermark < requiredOffset) return undefined;
  // The set of in-sync replicas may have shrunk between the append and now.
  return partition.hadEnoughInSyncReplicas() ? errorCodes.NONE : errorCodes.NOT_ENOUGH_REPLICAS_AFTER_APPEND;
}
