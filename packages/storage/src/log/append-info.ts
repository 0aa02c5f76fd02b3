// What an append is told, and what it answers.

import type { AppendOrigin } from './append-validator.ts';

export interface AppendOptions {
  readonly leaderEpoch: number;
  readonly origin: AppendOrigin;
}

export interface AppendInfo {
  /** -1: there was no batch to append, or it is a duplicate whose offsets are forgotten. */
  readonly firstOffset: number;
  /** Of a duplicate whose offsets are forgotten: it lies at or before this one. */
  readonly lastOffset: number;
  /** ms; -1 where the records keep their own times. */
  readonly logAppendTime: number;
  readonly logStartOffset: number;
  readonly maxTimestamp: number;
  /** The batch had been appended before; these are the offsets that it got then. */
  readonly isDuplicate: boolean;
  readonly sizeBytes: number;
  /**
   * Settles when the bytes are in the file, and on the device where `flush.messages` asks for it; from then on the log does not refer
   * to the bytes that it was given. Rejects with KAFKA_STORAGE_ERROR.
   */
  readonly written: Promise<void>;
}
