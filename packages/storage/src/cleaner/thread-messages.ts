// What the broker's thread and a cleaner's thread say to each other.
//
//   broker   start            →
//            ←                cleaned     for each group; the files are complete
//            replaced         →           or why not
//            ←                finished, or failed
//
// Beside the messages they share a few numbers, so that a thread which is busy hears of an abort and of another rate at once:
//
//   0  int32     1: aborted
//   8  float64   bytes per second

import type { CleanedGroup, CompactionJob, CompactionReport } from './compaction.ts';
import { CompactionAbortedError } from './compaction-runner.ts';

export type ToThread =
  | { readonly type: 'start'; readonly job: CompactionJob; readonly control: SharedArrayBuffer }
  | { readonly type: 'replaced'; readonly failure: Failure | undefined };

export type FromThread =
  | { readonly type: 'cleaned'; readonly group: CleanedGroup }
  | { readonly type: 'finished'; readonly report: CompactionReport }
  | { readonly type: 'failed'; readonly failure: Failure };

/** What an error must keep on its way between threads: a copy of it would lose its class and what a system call says. */
interface Failure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: unknown;
  readonly syscall: unknown;
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), stack: undefined, code: undefined, syscall: undefined };
  const { name, message, stack, code, syscall } = error as Error & { readonly code?: unknown; readonly syscall?: unknown };
  return { name, message, stack, code, syscall };
}

export function errorOf({ name, message, stack, code, syscall }: Failure): Error {
  if (name === 'CompactionAbortedError') return new CompactionAbortedError(message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  if (code !== undefined) Object.assign(error, { code });
  if (syscall !== undefined) Object.assign(error, { syscall });
  return error;
}

const controlBytes = 16;

export class ThreadControl {
  readonly buffer: SharedArrayBuffer;
  readonly #abort: Int32Array<SharedArrayBuffer>;
  readonly #rate: Float64Array<SharedArrayBuffer>;

  constructor(buffer = new SharedArrayBuffer(controlBytes)) {
    this.buffer = buffer;
    this.#abort = new Int32Array(buffer, 0, 1);
    this.#rate = new Float64Array(buffer, 8, 1);
  }

  get bytesPerSecond(): number {
    return this.#rate[0]!;
  }

  set bytesPerSecond(bytes: number) {
    this.#rate[0] = bytes;
  }

  abort(): void {
    Atomics.store(this.#abort, 0, 1);
    Atomics.notify(this.#abort, 0);
  }

  ensureWanted(): void {
    if (Atomics.load(this.#abort, 0) === 1) throw new CompactionAbortedError('The compaction was aborted');
  }

  /** Blocks the thread. */
  waitUnlessAborted(ms: number): void {
    Atomics.wait(this.#abort, 0, 0, ms);
    this.ensureWanted();
  }
}
