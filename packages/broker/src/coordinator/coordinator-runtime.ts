// Runs the shards of a coordinator: one for each partition of its internal topic that this broker leads. It loads them,
// writes what their operations yield, and answers when that is committed.
//
// An operation runs to its end without interruption, so there are no locks. What it writes is appended and replayed at once;
// later operations see it before it is committed. That is safe because no answer leaves before everything it may rest on is
// committed: writes and reads alike wait for the records that were appended before them. When the fate of appended records
// cannot be known (the disk failed), what was replayed is in doubt, and the shard is loaded again from its log.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { Clock, Logger, Timer } from '@odradek/runtime';
import { coordinatorError } from './coordinator-errors.ts';
import type { CoordinatorPartitions } from './coordinator-partitions.ts';
import type { CoordinatorRecord, CoordinatorShard, Outcome } from './coordinator-shard.ts';
import { CoordinatorTimer, type TimerOperation } from './coordinator-timer.ts';

export interface CoordinatorRuntimeParts<S extends CoordinatorShard> {
  readonly partitions: CoordinatorPartitions;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly createShard: (partition: number, timer: CoordinatorTimer) => S;
  /** How long an answer may wait for its records to be committed. */
  readonly writeTimeoutMs: () => number;
}

interface Loaded<S> {
  leaderEpoch: number;
  readonly shard: S;
  readonly timer: CoordinatorTimer;
  isLoading: boolean;
  /** Another broker leads, or the shard is loaded anew: what was appended here may have been overwritten since. */
  isDropped: boolean;
  /** How many appends are not committed yet. */
  uncommitted: number;
  /** Settles when everything appended so far is committed. */
  committed: Promise<void>;
}

export class CoordinatorRuntime<S extends CoordinatorShard> {
  readonly #parts: CoordinatorRuntimeParts<S>;
  readonly #shards = new Map<number, Loaded<S>>();

  constructor(parts: CoordinatorRuntimeParts<S>) {
    this.#parts = parts;
  }

  /**
   * This broker leads the partition from now on. Settles when the shard is loaded, or the attempt was overtaken. Who is the leader
   * already, in an earlier epoch, has all that there is: nobody else can have written since, or `unload` would have been called.
   */
  async load(partition: number, leaderEpoch: number): Promise<void> {
    const current = this.#shards.get(partition);
    if (current === undefined) await this.#load(partition, leaderEpoch);
    else current.leaderEpoch = Math.max(current.leaderEpoch, leaderEpoch);
  }

  /** Another broker leads the partition, or nobody. With an epoch, only if the shard is of no later one. */
  unload(partition: number, leaderEpoch?: number): void {
    const current = this.#shards.get(partition);
    if (current === undefined || (leaderEpoch !== undefined && current.leaderEpoch > leaderEpoch)) return;
    this.#drop(partition, current);
  }

  close(): void {
    for (const [partition, loaded] of [...this.#shards]) this.#drop(partition, loaded);
  }

  /** Runs an operation that may write. Rejects with NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS or the reason of the failed append. */
  async write<T>(partition: number, operation: (shard: S) => Outcome<T>): Promise<T> {
    const loaded = this.#active(partition);
    return this.#perform(partition, loaded, operation(loaded.shard));
  }

  /** Runs an operation that only looks. Its answer waits for what was appended before it. */
  async read<T>(partition: number, operation: (shard: S) => T): Promise<T> {
    const loaded = this.#active(partition);
    const result = operation(loaded.shard);
    try {
      await this.#settled(loaded);
    } catch (error) {
      throw coordinatorError(error);
    }
    return result;
  }

  /**
   * Runs the timers of a partition whose time is over, before the event loop comes to them. Whoever asks about members as they are
   * now must not hear of those whose sessions have ended.
   */
  runOverdueTimers(partition: number): void {
    this.#shards.get(partition)?.timer.runOverdue();
  }

  /** The partitions whose shards are ready. */
  activePartitions(): number[] {
    return [...this.#shards].filter(([, loaded]) => !loaded.isLoading).map(([partition]) => partition);
  }

  /** The shards that are ready, for metrics: what they hold may not be committed yet. */
  *activeShards(): Iterable<S> {
    for (const loaded of this.#shards.values()) if (!loaded.isLoading) yield loaded.shard;
  }

  get isLoading(): boolean {
    for (const loaded of this.#shards.values()) if (loaded.isLoading) return true;
    return false;
  }

  #active(partition: number): Loaded<S> {
    const loaded = this.#shards.get(partition);
    if (loaded === undefined) throw new ProtocolError(errorCodes.NOT_COORDINATOR);
    if (loaded.isLoading) throw new ProtocolError(errorCodes.COORDINATOR_LOAD_IN_PROGRESS);
    return loaded;
  }

  async #perform<T>(partition: number, loaded: Loaded<S>, outcome: Outcome<T>): Promise<T> {
    const { records, response, whenWritten } = outcome;
    try {
      if (outcome.isDivisible === true) {
        for (const piece of pieces(records, this.#parts.partitions.maxBatchBytes(partition))) {
          this.#append(partition, loaded, piece, true);
        }
      } else if (records.length > 0) this.#append(partition, loaded, records, whenWritten === undefined);
      await this.#settled(loaded);
    } catch (error) {
      const reason = coordinatorError(error);
      if (whenWritten === undefined) throw reason;
      whenWritten(reason);
      return await response;
    }
    whenWritten?.(null);
    return await response;
  }

  /** Appended before it is replayed: what the log refuses at once has changed nothing. */
  #append(partition: number, loaded: Loaded<S>, records: readonly CoordinatorRecord[], isReplayed: boolean): void {
    const { firstOffset, committed } = this.#parts.partitions.append(partition, loaded.leaderEpoch, records);
    if (isReplayed) records.forEach((record, index) => loaded.shard.replay(record, firstOffset + index, -1));
    this.#await(partition, loaded, committed);
  }

  /** Answers that follow wait for this. */
  #await(partition: number, loaded: Loaded<S>, committed: Promise<void>): void {
    loaded.uncommitted += 1;
    loaded.committed = committed.then(
      () => {
        loaded.uncommitted -= 1;
      },
      (error: unknown) => {
        this.#reload(partition, loaded, error);
        throw error;
      },
    );
    // Whoever waits sees the failure; nobody may be waiting.
    loaded.committed.catch(() => undefined);
  }

  /** Until all is committed, or REQUEST_TIMED_OUT: the records may still be committed later, so the state stays as it is. */
  async #settled(loaded: Loaded<S>): Promise<void> {
    await (loaded.uncommitted === 0 ? loaded.committed : this.#inTime(loaded.committed));
    if (loaded.isDropped) throw new ProtocolError(errorCodes.NOT_COORDINATOR);
  }

  #inTime(committed: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const task = this.#parts.timer.schedule(this.#parts.writeTimeoutMs(), () => {
        reject(new ProtocolError(errorCodes.REQUEST_TIMED_OUT));
      });
      committed.then(resolve, reject).finally(() => task.cancel());
    });
  }

  async #load(partition: number, leaderEpoch: number): Promise<void> {
    const timer = new CoordinatorTimer(this.#parts.timer, this.#parts.clock, (operation) =>
      this.#runTimer(partition, timer, operation),
    );
    const shard = this.#parts.createShard(partition, timer);
    const loaded: Loaded<S> = {
      leaderEpoch,
      shard,
      timer,
      isLoading: true,
      isDropped: false,
      uncommitted: 0,
      committed: Promise.resolve(),
    };
    this.#shards.set(partition, loaded);
    try {
      const { committed } = await this.#parts.partitions.replay(partition, {
        isWanted: () => this.#shards.get(partition) === loaded,
        record: (record, offset, producerId) => shard.replay(record, offset, producerId),
        endTransaction: (producerId, isCommitted) => shard.endTransaction?.(producerId, isCommitted),
      });
      this.#await(partition, loaded, committed);
      if (this.#shards.get(partition) !== loaded) return;
      loaded.isLoading = false;
      shard.onLoaded();
    } catch (error) {
      // The partition stays without a coordinator here; its clients look for another.
      this.#parts.logger.error('Could not load a coordinator partition', { partition, error });
      if (this.#shards.get(partition) === loaded) this.#drop(partition, loaded);
    }
  }

  #reload(partition: number, loaded: Loaded<S>, error: unknown): void {
    if (this.#shards.get(partition) !== loaded) return;
    this.#parts.logger.warn('Loading a coordinator partition again after a failed write', { partition, error });
    this.#drop(partition, loaded);
    void this.#load(partition, loaded.leaderEpoch);
  }

  #drop(partition: number, loaded: Loaded<S>): void {
    this.#shards.delete(partition);
    loaded.isDropped = true;
    loaded.timer.cancelAll();
    loaded.shard.onUnloaded();
  }

  /** False: what the operation yields could not be written, and it should be tried again. */
  async #runTimer(partition: number, timer: CoordinatorTimer, operation: TimerOperation): Promise<boolean> {
    const loaded = this.#shards.get(partition);
    if (loaded === undefined || loaded.timer !== timer || loaded.isLoading) return true;
    let outcome: Outcome<void>;
    try {
      outcome = operation();
    } catch (error) {
      // Nobody waits for it; the others must not suffer.
      this.#parts.logger.error('A timer of a coordinator failed', { partition, error });
      return true;
    }
    try {
      await this.#perform(partition, loaded, outcome);
      return true;
    } catch (error) {
      this.#parts.logger.warn('What a timer of a coordinator does could not be written', { partition, error });
      // Records that only describe are written with the next change of their group.
      return outcome.whenWritten !== undefined || this.#shards.get(partition) !== loaded;
    }
  }
}

/** The records in runs, each of which fits into a batch: a record has some 20 bytes besides its key and value. */
function* pieces(records: readonly CoordinatorRecord[], maxBytes: number): Iterable<readonly CoordinatorRecord[]> {
  let start = 0;
  let size = 0;
  for (const [index, { key, value }] of records.entries()) {
    const recordSize = key.length + (value?.length ?? 0) + 20;
    if (index > start && size + recordSize > maxBytes) {
      yield records.slice(start, index);
      start = index;
      size = 0;
    }
    size += recordSize;
  }
  if (start < records.length) yield records.slice(start);
}
