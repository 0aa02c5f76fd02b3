// Random records for property tests.

import fc from 'fast-check';
import type { RecordInit } from './record.ts';

const arbitraryBytes = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  // Something for the codecs to find.
  fc
    .tuple(fc.string({ minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 300 }))
    .map(([text, count]) => Buffer.from(text.repeat(count))),
);

const arbitraryHeader = fc.record(
  { key: fc.string({ unit: 'grapheme', maxLength: 12 }), value: arbitraryBytes },
  { noNullPrototype: true },
);

export const arbitraryRecord: fc.Arbitrary<RecordInit> = fc.record(
  {
    timestamp: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 2 ** 42 })),
    key: arbitraryBytes,
    value: arbitraryBytes,
    headers: fc.array(arbitraryHeader, { maxLength: 3 }),
  },
  { noNullPrototype: true },
);

/** With gaps between the offsets, as compaction leaves them. */
export const arbitraryRecords: fc.Arbitrary<RecordInit[]> = fc
  .array(fc.tuple(arbitraryRecord, fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 1000 }))), {
    minLength: 1,
    maxLength: 12,
  })
  .map((entries) => {
    let offset = -1;
    return entries.map(([record, step]) => {
      offset += step;
      return { ...record, offset };
    });
  });

/** The same records, standing from another offset on. */
export function shifted(records: readonly RecordInit[], baseOffset: number): RecordInit[] {
  return records.map((record) => ({ ...record, offset: baseOffset + record.offset! }));
}
