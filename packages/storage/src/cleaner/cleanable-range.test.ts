import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CleanableLog, cleanableRange, isCleaningDue } from './cleanable-range.ts';

const nowMs = 1_000_000;

/** Segments of 100 bytes at 0, 10, 20, 30 and the active one at 40; their records are from 100 s to 60 s old. */
function logWith(changes: Partial<CleanableLog> & { readonly lagMs?: number; readonly maxLagMs?: number } = {}): CleanableLog {
  const { lagMs = 0, maxLagMs = Number.MAX_SAFE_INTEGER, ...rest } = changes;
  return {
    logStartOffset: 0,
    logEndOffset: 45,
    lastStableOffset: 45,
    recoveryPoint: 40,
    cleanedOffset: undefined,
    segments: [0, 10, 20, 30, 40].map((baseOffset) => ({
      baseOffset,
      sizeBytes: 100,
      firstTimestamp: nowMs - 100_000 + baseOffset * 1000,
      largestTimestamp: nowMs - 91_000 + baseOffset * 1000,
    })),
    config: { minCompactionLagMs: lagMs, maxCompactionLagMs: maxLagMs, minCleanableDirtyRatio: 0.5 },
    ...rest,
  };
}

interface RangeCase {
  readonly name: string;
  readonly log: CleanableLog;
  readonly dirty: readonly [firstDirtyOffset: number, endOffset: number];
  readonly dirtyRatio: number;
  readonly isCheckpointInvalid?: boolean;
  readonly isOverdue?: boolean;
}

const cases: readonly RangeCase[] = [
  { name: 'all but the active segment, when nothing was cleaned', log: logWith(), dirty: [0, 40], dirtyRatio: 1 },
  { name: 'what was not cleaned before', log: logWith({ cleanedOffset: 20 }), dirty: [20, 40], dirtyRatio: 0.5 },
  {
    name: 'the segment in which the clean part ends is dirty',
    log: logWith({ cleanedOffset: 15 }),
    dirty: [15, 40],
    dirtyRatio: 0.75,
  },
  { name: 'nothing, when all is clean', log: logWith({ cleanedOffset: 40 }), dirty: [40, 40], dirtyRatio: 0 },
  { name: 'not the segment with the last stable offset', log: logWith({ lastStableOffset: 29 }), dirty: [0, 20], dirtyRatio: 1 },
  { name: 'but the one that ends there', log: logWith({ lastStableOffset: 30 }), dirty: [0, 30], dirtyRatio: 1 },
  { name: 'not what may not be on the device', log: logWith({ recoveryPoint: 20 }), dirty: [0, 20], dirtyRatio: 1 },
  { name: 'not from the first segment on that has a young record', log: logWith({ lagMs: 85_000 }), dirty: [0, 10], dirtyRatio: 1 },
  {
    name: 'young records in the clean part do not matter',
    log: logWith({ lagMs: 75_000, cleanedOffset: 20 }),
    dirty: [20, 20],
    dirtyRatio: 0,
  },
  {
    name: 'from the log start on, when the clean part was deleted',
    log: logWith({ cleanedOffset: 5, logStartOffset: 12 }),
    dirty: [12, 40],
    dirtyRatio: 0.75,
    isCheckpointInvalid: true,
  },
  {
    name: 'all again, when the log ends before it is clean',
    log: logWith({ cleanedOffset: 46 }),
    dirty: [0, 40],
    dirtyRatio: 1,
    isCheckpointInvalid: true,
  },
  {
    name: 'a record has waited long enough',
    log: logWith({ cleanedOffset: 20, maxLagMs: 79_999 }),
    dirty: [20, 40],
    dirtyRatio: 0.5,
    isOverdue: true,
  },
  { name: 'no record has', log: logWith({ cleanedOffset: 20, maxLagMs: 80_000 }), dirty: [20, 40], dirtyRatio: 0.5 },
];

for (const { name, log, dirty, dirtyRatio, isCheckpointInvalid = false, isOverdue = false } of cases) {
  test(name, () => {
    const range = cleanableRange(log, nowMs);
    assert.deepEqual([range.firstDirtyOffset, range.endOffset], dirty);
    assert.equal(range.dirtyRatio, dirtyRatio);
    assert.equal(range.isCheckpointInvalid, isCheckpointInvalid);
    assert.equal(range.isOverdue, isOverdue);
  });
}

test('a log is cleaned when it is dirtier than it may be, or a record has waited too long', () => {
  const range = (cleanableBytes: number, dirtyRatio: number, isOverdue: boolean) =>
    isCleaningDue({ firstDirtyOffset: 0, endOffset: 0, isCheckpointInvalid: false, cleanableBytes, dirtyRatio, isOverdue }, 0.5);
  assert.equal(range(100, 0.51, false), true);
  assert.equal(range(100, 0.5, false), false);
  assert.equal(range(100, 0.1, true), true);
  assert.equal(range(0, 0, true), false);
});
