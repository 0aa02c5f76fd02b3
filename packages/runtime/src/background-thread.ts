// Work beside the event loop: a module that runs in a thread of its own and is talked to by messages.

import { setPriority } from 'node:os';
import { parentPort, Worker } from 'node:worker_threads';

export interface BackgroundThread {
  /** Values are copied as the structured clone algorithm does; a SharedArrayBuffer is shared. */
  post(message: unknown): void;
  /** Ends the thread wherever it is. */
  terminate(): Promise<void>;
}

export interface ThreadListener {
  message(message: unknown): void;
  /** The thread has ended: by an error that it did not catch, or by itself. Not called for `terminate`. */
  ended(error: Error | undefined): void;
}

/**
 * Starts a module as a thread. It is named by its URL without an ending, since it is `.ts` in the sources and `.js` where they are
 * emitted.
 */
export function startThread(module: URL, name: string, listener: ThreadListener): BackgroundThread {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const worker = new Worker(new URL(`${module.href}${ending}`), { name });
  let isTerminated = false;
  let error: Error | undefined;
  worker.on('message', (message: unknown) => listener.message(message));
  worker.on('error', (thrown: unknown) => {
    error = thrown instanceof Error ? thrown : new Error(String(thrown));
  });
  worker.on('exit', () => {
    if (!isTerminated) listener.ended(error);
  });
  return {
    post: (message) => worker.postMessage(message),
    terminate: async () => {
      isTerminated = true;
      await worker.terminate();
    },
  };
}

/** For a module that runs as a thread: the side that started it. */
export function threadParent(): { post(message: unknown): void; onMessage(listener: (message: unknown) => void): void } {
  const port = parentPort;
  if (port === null) throw new Error('This is no background thread');
  return {
    post: (message) => port.postMessage(message),
    onMessage: (listener) => port.on('message', listener),
  };
}

/** Lets other threads of the machine go first. On Linux a priority belongs to the thread that sets it. */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, 10);
  } catch {
    // A sandbox may forbid it; then the thread competes like any other.
  }
}
