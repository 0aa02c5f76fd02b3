// Waiting for a condition of something outside this process, which cannot tell us when it changes: ask again, often.

import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  /** After this long without a success the wait fails. */
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/**
 * Asks `probe` again and again until it gives a value other than undefined or false, and returns that value. An exception of
 * the probe counts as "not yet"; the last one becomes the cause of the failure when time is up.
 */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  options: UntilOptions = {},
): Promise<T> {
  const { timeoutMs = 30_000, everyMs = 20 } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let cause: unknown;
    try {
      const value = await probe();
      if (value !== undefined && value !== false) {
        return value;
      }
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`gave up after ${timeoutMs} ms waiting until ${what}`, { cause });
    }
    await delay(everyMs);
  }
}
