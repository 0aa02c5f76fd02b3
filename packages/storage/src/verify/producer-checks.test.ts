import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildControlBatch, buildRecordBatch, RecordBatch } from '@odradek/protocol';
import { ProducerChecks } from './producer-checks.ts';

const producer = { producerId: 8, producerEpoch: 0 };

test('a gap before the log start does not make known what lies between the two (cleaner history 2001185)', () => {
  const complaints: string[] = [];
  const complain = (rule: string, _position: number | undefined, detail: string): number => complaints.push(`${rule}: ${detail}`);
  const checks = new ProducerChecks(21, []);
  // The transaction began at 13, with records that the cleaner has taken since.
  const entry = { producerId: 8, firstOffset: 13, lastOffset: 29, lastStableOffset: 30 };
  checks.beginSegment({ entries: [entry], positionOf: () => 0, complain });
  const plain = (baseOffset: number, lastOffset: number): RecordBatch =>
    new RecordBatch(buildRecordBatch({ baseOffset, lastOffset }, [{ value: Buffer.from('a') }]));
  checks.take(plain(6, 9), 6, true);
  checks.take(plain(17, 27), 17, false);
  const records = buildRecordBatch({ ...producer, baseOffset: 28, baseSequence: 4, isTransactional: true }, [
    { value: Buffer.from('b') },
  ]);
  checks.take(new RecordBatch(records), 28, false);
  const marker = new RecordBatch(buildControlBatch({ ...producer, type: 'abort', coordinatorEpoch: 0, timestamp: 0 }));
  marker.setBaseOffset(29);
  checks.take(marker, 29, false);
  checks.endSegment();
  assert.deepEqual(complaints, []);
});
