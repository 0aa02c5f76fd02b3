// Gives memory back to the system after a burst. V8 keeps the pages of a heap that has grown, and collects nothing while nothing is
// allocated: a broker that has just made ten thousand partitions would hold 330 MiB for ever where 150 MiB are in use. So when
// the process has grown and then gone quiet, one thorough collection is asked for, which moves objects together and lets pages go.
//
// It stops the process for some 50 to 250 ms. That is why it is for the command only, which has the process to itself, and
// why the process must have been quiet for a while first.

import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface HeapView {
  /** Bytes that V8 holds, in use or not. */
  readonly heapBytes: number;
  /** The share of the time since the last look in which the process was at work, 0 to 1. */
  readonly busyShare: number;
}

export interface TrimmerState {
  /** What V8 held after the last collection of this kind, in bytes. */
  readonly trimmedBytes: number;
  /** How many looks in a row found the process quiet. */
  readonly quietLooks: number;
}

const lookIntervalMs = 2000;
/** Below this there is too little to gain. */
const minGrowthBytes = 16 * 1024 * 1024;
const quietShare = 0.02;
const quietLooksNeeded = 2;

/** What to do at one look; the state for the next. */
export function decide(state: TrimmerState, view: HeapView): { readonly mustTrim: boolean; readonly state: TrimmerState } {
  const quietLooks = view.busyShare <= quietShare ? state.quietLooks + 1 : 0;
  const hasGrown = view.heapBytes - state.trimmedBytes >= minGrowthBytes;
  const mustTrim = hasGrown && quietLooks >= quietLooksNeeded;
  return { mustTrim, state: { ...state, quietLooks: mustTrim ? 0 : quietLooks } };
}

/** Looks every few seconds for as long as the process lives, without keeping it alive. */
export function trimMemoryWhenQuiet(): void {
  let state: TrimmerState = { trimmedBytes: 0, quietLooks: 0 };
  let last = workSoFar();
  setInterval(() => {
    const now = workSoFar();
    const view = { heapBytes: getHeapStatistics().total_heap_size, busyShare: busyShareBetween(last, now) };
    last = now;
    const decision = decide(state, view);
    state = decision.state;
    if (!decision.mustTrim) return;
    collectThoroughly();
    state = { trimmedBytes: getHeapStatistics().total_heap_size, quietLooks: 0 };
    last = workSoFar();
  }, lookIntervalMs).unref();
}

interface Work {
  readonly atMs: number;
  readonly loop: ReturnType<typeof performance.eventLoopUtilization>;
  readonly cpuMs: number;
}

function workSoFar(): Work {
  const { user, system } = process.cpuUsage();
  return { atMs: performance.now(), loop: performance.eventLoopUtilization(), cpuMs: (user + system) / 1000 };
}

/** By the event loop; but where other processes want the machine, a loop that waits for its turn seems to be at work, and has no use of it. */
function busyShareBetween(last: Work, now: Work): number {
  const loopShare = performance.eventLoopUtilization(now.loop, last.loop).utilization;
  return Math.min(loopShare, (now.cpuMs - last.cpuMs) / (now.atMs - last.atMs));
}

/** `gc` is offered to programs only behind a flag, which can be set for one new context; the flavor is V8's most thorough. */
function collectThoroughly(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { readonly type: string; readonly flavor: string }) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
