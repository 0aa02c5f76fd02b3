// The two times a broker needs. They are never mixed: a timestamp is wall time, a deadline is monotonic.

export interface Clock {
  /** Wall time in whole milliseconds since the Unix epoch; may jump either way. */
  wallTimeMs(): number;
  /** Milliseconds since an arbitrary start, never going back; with a fraction. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallTimeMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
