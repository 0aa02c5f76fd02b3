// Work beside the event loop: a module that runs in a thread of its own and is talked to by messages.

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

/** Without its ending. */
const entryModule = new URL('./thread-entry', import.meta.url);

/**
 * So small that V8 collects it in the thread itself. For a larger one it asks helpers, which have the priority of the thread that
 * serves clients.
 */
const maxYoungGenerationSizeMb = 2;

/**
 * Starts a module as a thread of low priority. It is named by its URL without an ending, since it is `.ts` in the sources and `.js` where
 * they are emitted.
 */
export function startThread(module: URL, name: string, listener: ThreadListener): BackgroundThread {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const worker = new Worker(new URL(`${entryModule.href}${ending}`), {
    name,
    workerData: `${module.href}${ending}`,
    resourceLimits: { maxYoungGenerationSizeMb },
  });
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
