// Checks one line of corrupt.jsonl: at which step damaged bytes fail, and with what.

import assert from 'node:assert/strict';
import {
  type Batch,
  CorruptRecordError,
  countRecords,
  DecompressionError,
  InvalidRecordError,
  iterateBatches,
  ProtocolError,
  UnsupportedCompressionTypeError,
} from '@odradek/protocol';
import type { Facts } from './records.ts';

interface ExceptionFact {
  readonly class: string;
  readonly message: string | null;
}

export function checkCorruptCase(facts: Facts): void {
  const bytes = Buffer.from(facts['base64'], 'base64');
  const batches: Batch[] = [];
  const splitting = outcome(() => {
    for (const batch of iterateBatches(bytes)) batches.push(batch);
  });
  compare(splitting, facts['batchIteration'] ?? 'ok', 'splitting into batches');
  if (facts['batchIteration'] !== undefined) return;

  assert.equal(batches.length, facts['batches'], 'number of batches');
  assert.equal(batches.at(-1)?.end ?? 0, facts['validBytes'], 'valid bytes');
  compare(
    outcome(() => {
      for (const batch of batches) batch.ensureValid();
    }),
    facts['ensureValid'],
    'checking the batches',
  );
  let count = 0;
  const counting = outcome(() => {
    for (const batch of batches) count += countRecords(batch);
  });
  compare(counting, facts['recordIteration'] ?? 'ok', 'counting the records');
  if (facts['records'] !== undefined) assert.equal(count, facts['records'], 'number of records');
  checkReading(batches, count, counting);
}

/**
 * Reading the records must end as counting them did. Kafka counts a message of magic 0 or 1 that wraps no others without
 * looking into it, and so do we; reading it then may fail.
 */
function checkReading(batches: readonly Batch[], count: number, counting: unknown): void {
  let read = 0;
  const reading = outcome(() => {
    for (const batch of batches) for (const _record of batch.records()) read += 1;
  });
  if (counting !== undefined) assert.ok(reading instanceof ProtocolError, `reading the records ended with ${describe(reading)}`);
  else if (batches.every((batch) => batch.magic === 2)) {
    assert.equal(reading, undefined, `reading the records ended with ${describe(reading)}`);
    assert.equal(read, count, 'number of records read');
  } else
    assert.ok(reading === undefined || reading instanceof ProtocolError, `reading the records ended with ${describe(reading)}`);
}

function outcome(step: () => void): unknown {
  try {
    step();
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Kafka meets some damage only where Java itself does, when it reads beyond a buffer or passes a wrong argument; there any of
 * our errors will do. Where it throws an exception of its own, ours is the one for the same error code.
 */
function compare(actual: unknown, fact: 'ok' | ExceptionFact, step: string): void {
  if (fact === 'ok') {
    assert.equal(actual, undefined, `${step} should work, but ended with ${describe(actual)}`);
    return;
  }
  const matches = fact.class.startsWith('java.') ? isOurs : expectations[fact.class];
  assert.ok(matches !== undefined, `${step} ended for Kafka with ${fact.class}, for which there is no rule`);
  assert.ok(matches(actual), `${step} should end like ${fact.class} (${fact.message}), but ended with ${describe(actual)}`);
}

const isInvalid = (error: unknown): boolean => error instanceof InvalidRecordError || error instanceof DecompressionError;
const isOurs = (error: unknown): boolean => error instanceof CorruptRecordError || isInvalid(error);

const expectations: Readonly<Record<string, (error: unknown) => boolean>> = {
  'org.apache.kafka.common.errors.CorruptRecordException': (error) => error instanceof CorruptRecordError,
  // Kafka decompresses while it reads, and so may meet a record that makes no sense before the codec has noticed the damage; we
  // decompress first.
  'org.apache.kafka.common.InvalidRecordException': isInvalid,
  'org.apache.kafka.common.KafkaException': (error) => error instanceof DecompressionError,
  'org.apache.kafka.common.errors.UnsupportedCompressionTypeException': (error) => error instanceof UnsupportedCompressionTypeError,
};

function describe(error: unknown): string {
  return error === undefined ? 'no error' : error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
