import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompactionMemory, ScratchMemory } from './compaction-memory.ts';

test('pieces do not overlap, those of before the memory grew neither, until it is given back', () => {
  const scratch = new ScratchMemory();
  const pieces = [10, 1, 25, 0, 300, 7].map((size, index) => scratch.take(size).fill(index));
  assert.deepEqual(
    pieces.map((piece) => [piece.length, ...new Set(piece)]),
    [[10, 0], [1, 1], [25, 2], [0], [300, 4], [7, 5]],
  );
  scratch.giveBack();
  const again = scratch.take(10);
  scratch.giveBack();
  assert.equal(scratch.take(5).buffer, again.buffer);
  assert.equal(scratch.take(1).byteOffset, again.byteOffset + 5);
});

test('slots hold zeros each time, and others may go first while they are cleared', () => {
  const memory = new CompactionMemory();
  let ways = 0;
  const slots = (size: number): Uint8Array => new Uint8Array(memory.slots(size, () => void (ways += 1)));
  const megabytes = 2.5 * 1024 * 1024;
  const first = slots(megabytes).fill(1);
  const second = slots(megabytes - 7);
  assert.equal(second.buffer, first.buffer);
  assert.equal(second.subarray(0, megabytes - 7).indexOf(1), -1);
  assert.equal(ways, 3);
  assert.ok(slots(megabytes + 1).length > megabytes);
});

test('a window is kept as long as its size is', () => {
  const memory = new CompactionMemory();
  const window = memory.window(1000);
  assert.equal(memory.window(1000), window);
  assert.notEqual(memory.window(2000), window);
});
