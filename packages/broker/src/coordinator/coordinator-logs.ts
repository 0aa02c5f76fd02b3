// The partitions of an internal topic as a coordinator needs them, over the replicas of this broker.

import { buildRecordBatch, type CompressionType, errorCodes, ProtocolError, recordBatchOverhead } from '@odradek/protocol';
import type { Clock, Logger, Timer } from '@odradek/runtime';
import type { AppendInfo } from '@odradek/storage';
import type { DelayedOperation } from '../purgatory/delayed-operation.ts';
import type { Partition } from '../replication/partition.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { replayLog } from './coordinator-loader.ts';
import type { AppendedRecords, CoordinatorPartitions, CoordinatorReplay, Replayed } from './coordinator-partitions.ts';
import type { CoordinatorRecord } from './coordinator-shard.ts';

export interface CoordinatorLogsParts {
  readonly topic: string;
  readonly replicaManager: ReplicaManager;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly partitionCount: () => number;
  readonly compression: () => CompressionType;
  /** How much is read at once when a partition is loaded. */
  readonly loadBytes: () => number;
}

/** So long a load may hold the event loop before others have their turn. */
const turnMs = 10;

/** Who waits for replicas waits as long as it takes; how long an answer waits is decided elsewhere. */
const noTimeoutMs = Number.MAX_SAFE_INTEGER;

export class CoordinatorLogs implements CoordinatorPartitions {
  readonly #parts: CoordinatorLogsParts;

  constructor(parts: CoordinatorLogsParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#parts.partitionCount();
  }

  maxBatchBytes(index: number): number {
    return this.#partition(index).log.config.maxMessageBytes - recordBatchOverhead;
  }

  append(index: number, leaderEpoch: number, records: readonly CoordinatorRecord[]): AppendedRecords {
    const partition = this.#partition(index);
    if (partition.leaderEpoch !== leaderEpoch) throw new ProtocolError(errorCodes.NOT_LEADER_OR_FOLLOWER);
    const timestamp = this.#parts.clock.wallTimeMs();
    const batch = buildRecordBatch(
      { compression: this.#parts.compression() },
      records.map(({ key, value }) => ({ timestamp, key, value })),
    );
    const info = partition.append(batch, { origin: 'coordinator', requiredAcks: -1 });
    return { firstOffset: info.firstOffset, committed: this.#committed(partition, info) };
  }

  async replay(index: number, target: CoordinatorReplay): Promise<Replayed> {
    const { timer, clock, logger, topic, loadBytes } = this.#parts;
    const partition = this.#partition(index);
    const startMs = clock.monotonicMs();
    let turnStartMs = startMs;
    const { endOffset, recordCount } = await replayLog(partition, target, {
      readBytes: loadBytes(),
      mustGiveWay: () => clock.monotonicMs() - turnStartMs >= turnMs,
      giveWay: async () => {
        await new Promise<void>((resolve) => timer.afterThisTurn(resolve));
        turnStartMs = clock.monotonicMs();
      },
    });
    if (recordCount > 0) {
      const tookMs = Math.round(clock.monotonicMs() - startMs);
      logger.info('Loaded a coordinator partition', { topic, partition: index, records: recordCount, tookMs });
    }
    return { committed: this.#reached(partition, endOffset) };
  }

  async #committed(partition: Partition, info: AppendInfo): Promise<void> {
    await info.written;
    partition.recordWritten();
    await this.#reached(partition, info.lastOffset + 1);
  }

  /** Settles when the high watermark has reached the offset. */
  #reached(partition: Partition, offset: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const operation = new DelayedCommit(partition, offset, resolve, reject);
    this.#parts.replicaManager.delayedProduces.watch(operation, [partition], noTimeoutMs);
    return promise;
  }

  #partition(index: number): Partition {
    return this.#parts.replicaManager.partition(this.#parts.topic, index);
  }
}

/**
 * Waits for the high watermark, unlike a produce request without asking how many replicas are in sync by then. It is asked at every
 * change of the partition's role, so it cannot miss that another broker has led meanwhile; a later epoch of this one changes nothing.
 */
class DelayedCommit implements DelayedOperation<Partition> {
  readonly #partition: Partition;
  readonly #offset: number;
  readonly #resolve: () => void;
  readonly #reject: (error: ProtocolError) => void;

  constructor(partition: Partition, offset: number, resolve: () => void, reject: (error: ProtocolError) => void) {
    this.#partition = partition;
    this.#offset = offset;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  tryComplete(): boolean {
    const partition = this.#partition;
    if (partition.isOffline) this.#reject(new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR));
    else if (!partition.isLeader) this.expire();
    else if (partition.log.highWatermark >= this.#offset) this.#resolve();
    else return false;
    return true;
  }

  expire(): void {
    this.#reject(new ProtocolError(errorCodes.NOT_LEADER_OR_FOLLOWER));
  }
}
