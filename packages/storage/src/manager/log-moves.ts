// The logs that are on their way into other directories: so many at a time, and all together no faster than is allowed.

import { RateLimit } from '../cleaner/rate-limit.ts';
import type { LogWorld } from '../log/log-files.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogMove, type MoveHost } from './log-move.ts';

export interface MoveSettings {
  /** `num.replica.alter.log.dirs.threads`: how many logs move at the same time. */
  readonly concurrency: number;
  /** `replica.alter.log.dirs.io.max.bytes.per.second` */
  readonly maxBytesPerSecond: number;
}

export const defaultMoveSettings: MoveSettings = { concurrency: 1, maxBytesPerSecond: Number.MAX_VALUE };

export class LogMoves {
  readonly #host: MoveHost;
  readonly #world: LogWorld;
  readonly #rate: RateLimit;
  #concurrency: number;
  /** Those that move and those that wait, by the log's name, in the order in which they were asked for. */
  readonly #moves = new Map<string, LogMove>();
  readonly #running = new Map<LogMove, Promise<void>>();
  #isClosed = false;

  constructor(host: MoveHost, { concurrency, maxBytesPerSecond }: MoveSettings) {
    this.#host = host;
    this.#world = host.world;
    this.#rate = new RateLimit(host.world.clock.monotonicMs());
    this.#rate.bytesPerSecond = maxBytesPerSecond;
    this.#concurrency = concurrency;
  }

  /** Counts at once. */
  updateSettings({ concurrency, maxBytesPerSecond }: MoveSettings): void {
    this.#concurrency = concurrency;
    this.#rate.bytesPerSecond = maxBytesPerSecond;
    this.#startNext();
  }

  /** Moves the log as soon as it is its turn. Nothing happens where it is on its way. */
  start(name: string, source: PartitionLog, future: PartitionLog): void {
    const current = this.#moves.get(name);
    if (this.#isClosed || current?.source === source) return;
    // One that has all but ended: the log has just moved, and moves on.
    const after = current === undefined ? undefined : this.#running.get(current);
    const throttled = (sizeBytes: number): Promise<void> => this.#throttled(sizeBytes, () => move.isCancelled);
    const move: LogMove = new LogMove({ host: this.#host, source, future, name, throttled });
    this.#moves.delete(name);
    this.#moves.set(name, move);
    if (after === undefined) this.#startNext();
    else
      this.#running.set(
        move,
        after.then(() => this.#run(name, move)),
      );
  }

  /** What was copied stays, and can be gone on with. */
  cancel(name: string): void {
    const move = this.#moves.get(name);
    if (move === undefined) return;
    this.#moves.delete(name);
    move.cancel();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const name of [...this.#moves.keys()]) this.cancel(name);
    await Promise.all(this.#running.values());
  }

  #startNext(): void {
    for (const [name, move] of this.#moves) {
      if (this.#running.size >= this.#concurrency) return;
      if (!this.#running.has(move)) this.#running.set(move, this.#run(name, move));
    }
  }

  async #run(name: string, move: LogMove): Promise<void> {
    const { clock, logger } = this.#world;
    const startedMs = clock.monotonicMs();
    const [from, to] = [move.source.directory.path, move.directory.path];
    logger.info('Moving a log to another directory', { log: name, from, to });
    try {
      const hasMoved = await move.run();
      const tookMs = Math.round(clock.monotonicMs() - startedMs);
      if (hasMoved) logger.info('A log has moved to another directory', { log: name, from, to, tookMs });
      else logger.info('A log does not move to another directory any more', { log: name, from, to });
    } catch (error) {
      // What stands in the way, such as a damaged batch, would do so again. The log stays where it is.
      logger.error('A log cannot be moved to another directory', { log: name, from, to, error });
      this.#host.gaveUp(move.source);
    }
    this.#running.delete(move);
    if (this.#moves.get(name) === move) this.#moves.delete(name);
    if (!this.#isClosed) this.#startNext();
  }

  /** Time that was not used is not saved up. */
  async #throttled(sizeBytes: number, isCancelled: () => boolean): Promise<void> {
    const { clock, timer } = this.#world;
    this.#rate.add(sizeBytes, clock.monotonicMs());
    for (;;) {
      const delayMs = this.#rate.delayMs(clock.monotonicMs());
      if (delayMs <= 0 || isCancelled()) return;
      await new Promise<void>((resolve) => timer.schedule(delayMs, resolve));
    }
  }
}
