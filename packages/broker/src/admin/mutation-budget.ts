// What a client may still change of topics and partitions.

export interface MutationBudget {
  /** About to create or delete so many partitions. Throws THROTTLING_QUOTA_EXCEEDED when that must not be. */
  take(partitions: number): void;
  /** For how long the client has to wait for what it has taken, or wanted to. */
  readonly throttleMs: number;
}
