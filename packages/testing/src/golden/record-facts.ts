// What facts about a batch look like in JSON, and how to compare with them.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

/** int64 as a decimal string, other integers as numbers. */
export type IntegerFact = string | number;

export interface RecordFacts {
  readonly offset: IntegerFact;
  readonly timestamp: IntegerFact;
  readonly sequence?: number;
  /** Base64. */
  readonly key?: string | null;
  readonly value?: string | null;
  /** In place of `key` or `value` where those are large. */
  readonly keySize?: number;
  readonly keySha256?: string;
  readonly valueSize?: number;
  readonly valueSha256?: string;
  readonly sizeInBytes?: number;
  readonly headers?: readonly { readonly key: string; readonly value: string | null }[];
  readonly controlType?: string;
  readonly coordinatorEpoch?: number;
}

export interface BatchFacts {
  readonly position: number;
  readonly sizeInBytes: number;
  readonly magic: number;
  readonly baseOffset: IntegerFact;
  readonly lastOffset: IntegerFact;
  readonly nextOffset: IntegerFact;
  readonly crc: number;
  readonly isValid: boolean;
  readonly compression: string;
  readonly timestampType: string;
  readonly maxTimestamp: IntegerFact;
  readonly records: readonly RecordFacts[];
  readonly batchLength?: number;
  readonly attributes?: number;
  readonly lastOffsetDelta?: number;
  readonly baseTimestamp?: IntegerFact;
  readonly partitionLeaderEpoch?: number;
  readonly producerId?: IntegerFact;
  readonly producerEpoch?: number;
  readonly baseSequence?: number;
  readonly lastSequence?: number;
  readonly isTransactional?: boolean;
  readonly isControlBatch?: boolean;
  readonly deleteHorizonMs?: IntegerFact | null;
  readonly count?: number;
}

/** Integers beyond the safe range are read as its bounds. */
export function assertInteger(actual: number | null, fact: IntegerFact | null, what: string): void {
  if (fact === null || actual === null) {
    assert.equal(actual, fact, what);
    return;
  }
  const exact = BigInt(fact);
  const expected =
    exact > Number.MAX_SAFE_INTEGER
      ? Number.MAX_SAFE_INTEGER
      : exact < Number.MIN_SAFE_INTEGER
        ? Number.MIN_SAFE_INTEGER
        : Number(exact);
  assert.equal(actual, expected, what);
}

export function assertBytes(
  actual: Buffer | null,
  base64: string | null | undefined,
  size: number | undefined,
  sha256: string | undefined,
  what: string,
): void {
  if (size === undefined) {
    assert.equal(actual?.toString('base64') ?? null, base64 ?? null, what);
    return;
  }
  assert.equal(actual?.length, size, `size of ${what}`);
  if (sha256 !== undefined) {
    const digest = createHash('sha256').update(actual ?? '');
    // The facts may hold the digest in either notation.
    assert.equal(sha256.length === 64 ? digest.digest('hex') : digest.digest('base64'), sha256, `SHA-256 of ${what}`);
  }
}
