// What a coordinator keeps in one partition of its internal topic. An operation looks at the state and says which records
// follow and what to answer; the state changes only when records are replayed. So a restart, a new leader and normal running
// are one and the same code.
//
// The one exception is a classic group, which lives in memory while its members come and go: its record only describes what it
// has become. Such records are replayed when a shard is loaded, and not when they are written.

import type { ProtocolError } from '@odradek/protocol';

/** A record of the internal topic, in its encoded form; a value of null is a tombstone. */
export interface CoordinatorRecord {
  readonly key: Buffer;
  readonly value: Buffer | null;
}

/** What an operation gives back. */
export interface Outcome<T> {
  /** Written together as one batch, so all of them or none. */
  readonly records: readonly CoordinatorRecord[];
  /** Answered once the records are committed; with a promise, when both are. */
  readonly response: T | Promise<T>;
  /**
   * For records that only describe (see above): they are not replayed, and this is told that they are committed, or why they
   * could not be.
   */
  readonly whenWritten?: (error: ProtocolError | null) => void;
  /** Each record stands for itself, as where expired offsets are removed: there may be more than one batch can hold. */
  readonly isDivisible?: boolean;
}

export interface CoordinatorShard {
  /** Applies one record, as it was read from the log or has just been appended to it. `producerId` is -1 outside of a transaction. */
  replay(record: CoordinatorRecord, offset: number, producerId: number): void;
  /** The marker that ends a transaction of the producer. Only for coordinators whose topic transactions write to. */
  endTransaction?(producerId: number, isCommitted: boolean): void;
  /** The log has been replayed whole and requests follow. */
  onLoaded(): void;
  /** The partition has another leader now: answers what still waits, with NOT_COORDINATOR. */
  onUnloaded(): void;
}

/** An outcome whose records describe what the state is already, as that of a living classic group: they are not replayed. */
export function described<T>(records: readonly CoordinatorRecord[], response: T | Promise<T>): Outcome<T> {
  return { records, response, whenWritten: () => undefined };
}

/** An outcome without records. */
export function answer<T>(response: T | Promise<T>): Outcome<T> {
  return { records: [], response };
}
