// How long the fetches of followers wait.
//
// A follower has one fetch under way. When the controller gives it another partition to follow, it cannot ask for that before the answer,
// and what producers send there with acks=all waits as long. So its new leader answers at once when it begins to lead, and as it may have
// heard of the partition before the follower has, the next fetches wait no longer than the partition has been led: 10 ms, 20 ms, 40 ms …

const shortestMs = 10;

export class FollowerPatience {
  /** By broker: since when the partition is led that it got last. */
  readonly #ledSinceMs = new Map<number, number>();

  /** This broker leads a partition, or in another epoch, that these are to follow. */
  begin(brokerIds: Iterable<number>, nowMs: number): void {
    for (const brokerId of brokerIds) this.#ledSinceMs.set(brokerId, nowMs);
  }

  /** ms; -1 is a consumer. */
  limit(brokerId: number, maxWaitMs: number, nowMs: number): number {
    const ledSinceMs = this.#ledSinceMs.get(brokerId);
    if (ledSinceMs === undefined) return maxWaitMs;
    const ledForMs = nowMs - ledSinceMs;
    if (ledForMs >= maxWaitMs) this.#ledSinceMs.delete(brokerId);
    return Math.min(maxWaitMs, Math.max(shortestMs, ledForMs));
  }
}
