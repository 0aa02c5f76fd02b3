// A request that cannot be answered yet: for lack of data, of replicas that have it, or of a topic that is being made.

export interface DelayedOperation<Key> {
  /**
   * Looks whether the time has come, and answers if so. Called whenever something happened that the operation watches;
   * never again after it returned true. `changed` is the key that something happened to; without it, all may have changed.
   */
  tryComplete(changed?: Key): boolean;
  /** The time is up: answers with what there is. Called at most once, and never after `tryComplete` returned true. */
  expire(): void;
}
