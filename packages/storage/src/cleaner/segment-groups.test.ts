import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupSegments, type SegmentSize } from './segment-groups.ts';

const limits = { segmentBytes: 100, segmentIndexBytes: 80 };

/** `offsets` are where the segments begin, and where the last ends. */
function segments(offsets: readonly number[], sizes: readonly Partial<SegmentSize>[]): SegmentSize[] {
  return sizes.map((size, index) => ({
    baseOffset: offsets[index]!,
    endOffset: offsets[index + 1]!,
    sizeBytes: 10,
    offsetIndexBytes: 8,
    timeIndexBytes: 12,
    ...size,
  }));
}

const far = 2 ** 31;

const cases: readonly {
  readonly name: string;
  readonly segments: SegmentSize[];
  readonly groups: readonly (readonly number[])[];
}[] = [
  { name: 'none of none', segments: [], groups: [] },
  { name: 'neighbours that fit into one', segments: segments([0, 5, 9, 12], [{}, {}, {}]), groups: [[0, 5, 9]] },
  {
    name: 'a new one where the records would be too many',
    segments: segments([0, 5, 9, 12], [{ sizeBytes: 60 }, { sizeBytes: 40 }, { sizeBytes: 1 }]),
    groups: [[0, 5], [9]],
  },
  {
    name: 'a large segment by itself',
    segments: segments([0, 5, 9, 12], [{ sizeBytes: 1 }, { sizeBytes: 500 }, { sizeBytes: 1 }]),
    groups: [[0], [5], [9]],
  },
  {
    name: 'a new one where an index would be full',
    segments: segments([0, 5, 9, 12], [{ offsetIndexBytes: 48 }, { offsetIndexBytes: 40 }, { timeIndexBytes: 72 }]),
    groups: [[0], [5], [9]],
  },
  {
    name: 'a new one where offsets would be too far from the base',
    segments: segments([0, 5, far, far + 1], [{}, {}, {}]),
    groups: [[0, 5], [far]],
  },
  {
    name: 'offsets do not matter where there are no records',
    segments: segments([0, 5, far + 10, far + 20], [{}, { sizeBytes: 0 }, {}]),
    groups: [[0, 5], [far + 10]],
  },
];

for (const { name, segments: given, groups } of cases) {
  test(name, () => {
    assert.deepEqual(
      groupSegments(given, limits).map((group) => group.map(({ baseOffset }) => baseOffset)),
      groups,
    );
  });
}
