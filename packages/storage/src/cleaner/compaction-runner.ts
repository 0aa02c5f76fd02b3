// Where compactions run: in a thread of their own in a real broker, between the turns of the event loop in a simulated one.

import type { Clock, FileSystem, Timer } from '@odradek/runtime';
import type { FilePool } from '../log/file-pool.ts';
import { type CleanedGroup, type CompactionJob, type CompactionReport, compact } from './compaction.ts';
import { CompactionMemory } from './compaction-memory.ts';
import { RateLimit } from './rate-limit.ts';

/** The log has changed, or the cleaner stops: what was done so far stays, the rest is not done. */
export class CompactionAbortedError extends Error {
  override readonly name = 'CompactionAbortedError';
}

export interface RunningCompaction {
  /** Rejects with CompactionAbortedError after `abort`, and with whatever else went wrong. */
  readonly finished: Promise<CompactionReport>;
  abort(): void;
}

export type ReplaceGroup = (group: CleanedGroup) => Promise<void>;

/** Runs one compaction at a time. */
export interface CompactionRunner {
  start(job: CompactionJob, replace: ReplaceGroup): RunningCompaction;
  /** What may be read and written in a second; takes effect at once. */
  limitRate(bytesPerSecond: number): void;
  /** There is nothing to do for a while. */
  rest(): void;
  /** Not while a compaction runs. */
  close(): Promise<void>;
}

export interface RunnerWorld {
  readonly fileSystem: FileSystem;
  readonly pool: FilePool;
  readonly clock: Clock;
  readonly timer: Timer;
}

/** Gives way to other work after each piece. */
export class TurnByTurnRunner implements CompactionRunner {
  readonly #world: RunnerWorld;
  readonly #rate: RateLimit;
  readonly #memory = new CompactionMemory();

  constructor(world: RunnerWorld) {
    this.#world = world;
    this.#rate = new RateLimit(world.clock.monotonicMs());
  }

  start(job: CompactionJob, replace: ReplaceGroup): RunningCompaction {
    const { fileSystem, pool, clock, timer } = this.#world;
    let isAborted = false;
    const ensureWanted = (): void => {
      if (isAborted) throw new CompactionAbortedError('The compaction was aborted');
    };
    const finished = compact(job, {
      fileSystem,
      pool,
      memory: this.#memory,
      pace: async (sizeBytes) => {
        this.#rate.add(sizeBytes, clock.monotonicMs());
        await new Promise<void>((resolve) => timer.afterThisTurn(resolve));
        ensureWanted();
        for (let delayMs = 0; (delayMs = this.#rate.delayMs(clock.monotonicMs())) > 0; ) {
          await new Promise<void>((resolve) => timer.schedule(delayMs, resolve));
          ensureWanted();
        }
      },
      replace: async (group) => {
        ensureWanted();
        await replace(group);
      },
    });
    return {
      finished,
      abort: () => {
        isAborted = true;
      },
    };
  }

  limitRate(bytesPerSecond: number): void {
    this.#rate.bytesPerSecond = bytesPerSecond;
  }

  rest(): void {
    return;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
