// What a leader knows of one follower: how far it has copied the log, and since when it has been there.

/** As long as nothing happens to the partition, the fetches of a follower that has all of it are counted for its session at once. */
export interface FollowerRest {
  /** Monotonic time of the session's last fetch. */
  readonly lastFetchMs: number;
  /** Something has happened to the partition. */
  end(): void;
}

export class FollowerState {
  readonly brokerId: number;
  /** End of what the follower has; -1 while it has not fetched in this leader's reign. */
  logEndOffset = -1;
  logStartOffset = -1;
  /** The epoch of the broker's life in which it fetched last; -1: it did not say. */
  brokerEpoch = -1;
  #lastCaughtUpMs: number;
  /** The leader's end offset and the monotonic time at the follower's previous fetch. */
  #lastFetchLeaderEndOffset = -1;
  #lastFetchMs = Number.NEGATIVE_INFINITY;
  #rest: FollowerRest | undefined;

  /** Who is in sync when a reign begins has caught up at that moment; of the others nothing is known. */
  constructor(brokerId: number, isInSync: boolean, nowMs: number) {
    this.brokerId = brokerId;
    this.#lastCaughtUpMs = isInSync ? nowMs : Number.NEGATIVE_INFINITY;
  }

  /** Monotonic time of the last moment at which the follower had all that the leader had. */
  get lastCaughtUpMs(): number {
    return this.#rest === undefined ? this.#lastCaughtUpMs : Math.max(this.#lastCaughtUpMs, this.#rest.lastFetchMs);
  }

  /**
   * The follower has asked for `fetchOffset`, so it has everything before. It counts as caught up now when it asks for the
   * leader's end, and as caught up at its previous fetch when it has at last what the leader had then: a follower that is
   * steadily one fetch behind a busy leader stays in sync.
   */
  recordFetch(fetchOffset: number, logStartOffset: number, leaderEndOffset: number, nowMs: number): void {
    this.stir();
    if (fetchOffset >= leaderEndOffset) this.#lastCaughtUpMs = Math.max(this.#lastCaughtUpMs, nowMs);
    else if (fetchOffset >= this.#lastFetchLeaderEndOffset)
      this.#lastCaughtUpMs = Math.max(this.#lastCaughtUpMs, this.#lastFetchMs);
    this.logEndOffset = fetchOffset;
    this.logStartOffset = logStartOffset;
    this.#lastFetchLeaderEndOffset = leaderEndOffset;
    this.#lastFetchMs = nowMs;
  }

  /** It has just fetched, and has all that the leader has. */
  rest(rest: FollowerRest): void {
    this.#rest = rest;
  }

  /** Something happens to the partition: the follower's fetches count one by one again. */
  stir(): void {
    this.#rest?.end();
  }

  /** The rest has ended: what was fetched meanwhile is taken over. */
  rise(): void {
    this.#lastCaughtUpMs = this.lastCaughtUpMs;
    if (this.#rest !== undefined) this.#lastFetchMs = Math.max(this.#lastFetchMs, this.#rest.lastFetchMs);
    this.#rest = undefined;
  }
}
