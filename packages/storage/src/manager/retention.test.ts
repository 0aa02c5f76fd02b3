import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultLogConfig } from '../log/log-config.ts';
import { expiredSegments, type SegmentAge, surplusSegments } from './retention.ts';

const segments: readonly SegmentAge[] = [
  { sizeBytes: 100, largestTimestamp: 1000 },
  { sizeBytes: 100, largestTimestamp: 3000 },
  { sizeBytes: 100, largestTimestamp: 2000 },
  { sizeBytes: 50, largestTimestamp: 4000 },
];

describe('segments that are too old', () => {
  const cases: readonly (readonly [string, number, number, number])[] = [
    ['none is', 1500, 1000, 0],
    ['exactly as old as allowed is not too old', 2000, 1000, 0],
    ['the first is', 2001, 1000, 1],
    ['one behind a younger one stays with it', 3500, 1000, 1],
    ['three are', 4001, 1000, 3],
    ['all are, the active one too', 9000, 1000, 4],
    ['no limit', 9000, -1, 0],
  ];
  for (const [what, nowMs, retentionMs, expected] of cases) {
    test(what, () => assert.equal(expiredSegments(segments, { ...defaultLogConfig, retentionMs }, nowMs), expected));
  }
});

describe('segments that are too many', () => {
  const cases: readonly (readonly [string, number, number])[] = [
    ['all fit', 350, 0],
    ['the first may not go while what is left would be less than allowed', 251, 0],
    ['the first may go', 250, 1],
    ['two may', 150, 2],
    ['all may', 0, 4],
    ['no limit', -1, 0],
  ];
  for (const [what, retentionBytes, expected] of cases) {
    test(what, () => assert.equal(surplusSegments(segments, { ...defaultLogConfig, retentionBytes }), expected));
  }
});
