// Holds work back to so many bytes a second. Pure: whoever works asks how long to wait.

/** How much time may be owed before it is worth a wait. */
const shortestDelayMs = 20;
/** What was not used is not saved up for longer than this. */
const longestCreditMs = 300;

export class RateLimit {
  bytesPerSecond = Number.MAX_VALUE;
  /** When everything that was done so far would be done at the rate. */
  #paidUntilMs: number;

  constructor(nowMs: number) {
    this.#paidUntilMs = nowMs;
  }

  /** How long to wait after that much work. */
  delayAfter(sizeBytes: number, nowMs: number): number {
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs - longestCreditMs) + (sizeBytes * 1000) / this.bytesPerSecond;
    const delayMs = this.#paidUntilMs - nowMs;
    return delayMs < shortestDelayMs ? 0 : delayMs;
  }
}
