// Holds work back to so many bytes a second. Pure: whoever works says what was done, and asks how long to wait.

/** How much time may be owed before it is worth a wait. */
const shortestDelayMs = 20;
/** No wait is longer than this, so that another rate counts soon. */
const longestDelayMs = 300;

export class RateLimit {
  bytesPerSecond = Number.MAX_VALUE;
  /** What was done and is not paid for by time yet. */
  #owedBytes = 0;
  #sinceMs: number;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  add(sizeBytes: number, nowMs: number): void {
    this.#pay(nowMs);
    this.#owedBytes += sizeBytes;
  }

  /** How long to wait before the next piece; 0: it may begin. To be asked again after the wait. */
  delayMs(nowMs: number): number {
    this.#pay(nowMs);
    const delayMs = (this.#owedBytes * 1000) / this.bytesPerSecond;
    return delayMs < shortestDelayMs ? 0 : Math.min(delayMs, longestDelayMs);
  }

  /** Time without work is not saved up. */
  #pay(nowMs: number): void {
    this.#owedBytes = Math.max(0, this.#owedBytes - ((nowMs - this.#sinceMs) * this.bytesPerSecond) / 1000);
    this.#sinceMs = nowMs;
  }
}
