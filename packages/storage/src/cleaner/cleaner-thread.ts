// The thread in which a real broker compacts logs. It does one compaction at a time, with files of its own, and asks before a
// segment takes the place of others, since only the broker's thread knows what the log is by then.

import { NodeFileSystem, systemClock, threadParent } from '@odradek/runtime';
import { FilePool } from '../log/file-pool.ts';
import { type CompactionJob, compact } from './compaction.ts';
import { CompactionMemory } from './compaction-memory.ts';
import { RateLimit } from './rate-limit.ts';
import { errorOf, type FromThread, failureOf, ThreadControl, type ToThread } from './thread-messages.ts';

/** Segments that are written: four files at a time. */
const maxOpenFiles = 16;
/**
 * After so much work the thread pauses, as short as can be. A system without a processor to spare lets even a thread of low priority run
 * to the end of its slice, some milliseconds, before one that has become ready: a producer would wait for that.
 */
const workMs = 0.5;
const pauseMs = 0.05;

const parent = threadParent();
const fileSystem = new NodeFileSystem();
const pool = new FilePool(fileSystem, maxOpenFiles);
const memory = new CompactionMemory();
const rate = new RateLimit(systemClock.monotonicMs());
let replaced: PromiseWithResolvers<void> | undefined;

async function run(job: CompactionJob, control: ThreadControl): Promise<void> {
  const pace = (sizeBytes: number): undefined => {
    control.ensureWanted();
    rate.add(sizeBytes, systemClock.monotonicMs());
    for (;;) {
      rate.bytesPerSecond = control.bytesPerSecond;
      const delayMs = rate.delayMs(systemClock.monotonicMs());
      if (delayMs === 0) return undefined;
      control.waitUnlessAborted(delayMs);
    }
  };
  let pausedMs = systemClock.monotonicMs();
  const giveWay = (): void => {
    if (systemClock.monotonicMs() - pausedMs < workMs) return;
    control.waitUnlessAborted(pauseMs);
    pausedMs = systemClock.monotonicMs();
  };
  try {
    const report = await compact(job, {
      fileSystem,
      pool,
      memory,
      pace,
      giveWay,
      replace: (group) => {
        control.ensureWanted();
        replaced = Promise.withResolvers();
        post({ type: 'cleaned', group });
        return replaced.promise;
      },
    });
    post({ type: 'finished', report });
  } catch (error) {
    post({ type: 'failed', failure: failureOf(error) });
  }
}

function post(message: FromThread): void {
  parent.post(message);
}

parent.onMessage((received) => {
  const message = received as ToThread;
  if (message.type === 'start') void run(message.job, new ThreadControl(message.control));
  else if (message.failure === undefined) replaced?.resolve();
  else replaced?.reject(errorOf(message.failure));
});
