// Runs compactions in a thread, which is there as long as there is something to do, and for a while after.

import { type BackgroundThread, startThread, type Timer, type TimerTask } from '@odradek/runtime';
import type { CompactionJob, CompactionReport } from './compaction.ts';
import type { CompactionRunner, ReplaceGroup, RunningCompaction } from './compaction-runner.ts';
import { errorOf, type FromThread, failureOf, ThreadControl, type ToThread } from './thread-messages.ts';

/** Without its ending: see `startThread`. */
const threadModule = new URL('./cleaner-thread', import.meta.url);

/**
 * A thread costs some ten megabytes and what its map of keys takes. A new one costs a quarter of a second of the processor, most of it
 * spent by V8's compilers, which have the priority of the thread that serves.
 */
const keptMs = 60_000;

interface Running {
  readonly control: ThreadControl;
  readonly replace: ReplaceGroup;
  readonly finished: PromiseWithResolvers<CompactionReport>;
}

export class ThreadRunner implements CompactionRunner {
  readonly #timer: Timer;
  #thread: BackgroundThread | undefined;
  #running: Running | undefined;
  #ending: TimerTask | undefined;
  #bytesPerSecond = Number.MAX_VALUE;

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  start(job: CompactionJob, replace: ReplaceGroup): RunningCompaction {
    this.#ending?.cancel();
    this.#ending = undefined;
    const control = new ThreadControl();
    control.bytesPerSecond = this.#bytesPerSecond;
    const running: Running = { control, replace, finished: Promise.withResolvers() };
    this.#running = running;
    this.#thread ??= startThread(threadModule, 'cleaner', {
      message: (message) => this.#received(message as FromThread),
      ended: (error) => this.#ended(error),
    });
    this.#post({ type: 'start', job, control: control.buffer });
    return { finished: running.finished.promise, abort: () => control.abort() };
  }

  limitRate(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
    if (this.#running !== undefined) this.#running.control.bytesPerSecond = bytesPerSecond;
  }

  rest(): void {
    if (this.#thread === undefined) return;
    this.#ending ??= this.#timer.schedule(keptMs, () => {
      // It is idle, and leaves nothing behind that could fail.
      this.close().catch(() => undefined);
    });
  }

  async close(): Promise<void> {
    this.#ending?.cancel();
    this.#ending = undefined;
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  #post(message: ToThread): void {
    this.#thread?.post(message);
  }

  #received(message: FromThread): void {
    const running = this.#running;
    if (running === undefined) return;
    switch (message.type) {
      case 'cleaned':
        running.replace(message.group).then(
          () => this.#post({ type: 'replaced', failure: undefined }),
          (error: unknown) => this.#post({ type: 'replaced', failure: failureOf(error) }),
        );
        return;
      case 'finished':
        this.#running = undefined;
        running.finished.resolve(message.report);
        return;
      case 'failed':
        this.#running = undefined;
        running.finished.reject(errorOf(message.failure));
    }
  }

  #ended(error: Error | undefined): void {
    this.#thread = undefined;
    const running = this.#running;
    this.#running = undefined;
    running?.finished.reject(error ?? new Error('The thread of the cleaner ended by itself'));
  }
}
