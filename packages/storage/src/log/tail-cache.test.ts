import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogTail, TailBudget } from './tail-cache.ts';

/** Adds batches of one offset each, whose bytes are all the given letter. */
function add(tail: LogTail, first: number, letters: string, size = 10): void {
  for (const [index, letter] of [...letters].entries()) tail.add(Buffer.alloc(size, letter), first + index, first + index + 1);
}

function textAt(tail: LogTail, offset: number, endOffset: number, maxBytes = 1_000_000, minOneBatch = false): string | undefined {
  const read = tail.read(offset, endOffset, maxBytes, minOneBatch);
  return read === undefined
    ? undefined
    : Buffer.concat(read.chunks)
        .toString()
        .replace(/(.)\1{9}/g, '$1');
}

test('what was added last is there, within the bounds of the reader', () => {
  const tail = new LogTail(new TailBudget(1000));
  assert.equal(tail.read(0, 10, 100, true), undefined);
  add(tail, 5, 'abcd');
  assert.equal(textAt(tail, 5, 9), 'abcd');
  assert.equal(textAt(tail, 7, 9), 'cd');
  assert.equal(textAt(tail, 5, 7), 'ab');
  assert.equal(textAt(tail, 5, 9, 25), 'ab');
  assert.equal(textAt(tail, 5, 9, 5), '');
  assert.equal(textAt(tail, 5, 9, 5, true), 'a');
  assert.equal(textAt(tail, 4, 9), undefined);
  assert.equal(textAt(tail, 9, 9), undefined);
});

test('neighbours come as one chunk, and those that others lie between as several', () => {
  const budget = new TailBudget(1000);
  const [one, other] = [new LogTail(budget), new LogTail(budget)];
  add(one, 0, 'ab');
  add(other, 0, 'x');
  add(one, 2, 'c');
  assert.deepEqual(
    one.read(0, 3, 1000, true)?.chunks.map((chunk) => chunk.length),
    [20, 10],
  );
});

test('beyond the bound of all logs the oldest goes, whosever it is', () => {
  const budget = new TailBudget(50);
  const [one, other] = [new LogTail(budget), new LogTail(budget)];
  add(one, 0, 'abc');
  add(other, 0, 'xyz');
  assert.equal(budget.bytes, 50);
  assert.equal(textAt(one, 0, 3), undefined);
  assert.equal(textAt(one, 1, 3), 'bc');
  assert.equal(textAt(other, 0, 3), 'xyz');
});

test('what an answer still refers to is not overwritten', () => {
  const size = 200_000;
  const budget = new TailBudget(size * 10);
  const tail = new LogTail(budget);
  tail.add(Buffer.alloc(size, 'a'), 0, 1);
  const held = tail.read(0, 1, size, true);
  for (let offset = 1; offset < 100; offset++) tail.add(Buffer.alloc(size, 'b'), offset, offset + 1);
  assert.equal(tail.read(0, 1, size, true), undefined);
  assert.ok(held?.chunks[0]?.every((byte) => byte === 97));
  held?.release();
  held?.release();
});

test('a slab serves again when its entries and answers are gone', () => {
  const size = 200_000;
  const tail = new LogTail(new TailBudget(size * 5));
  const seen = new Set<ArrayBufferLike>();
  for (let offset = 0; offset < 200; offset++) {
    tail.add(Buffer.alloc(size, 'b'), offset, offset + 1);
    const read = tail.read(offset, offset + 1, size, true);
    for (const chunk of read?.chunks ?? []) seen.add(chunk.buffer);
    read?.release();
  }
  assert.ok(seen.size <= 3, `${seen.size} slabs for what fits into two`);
});

test('a large batch has room of its own, and one beyond the bound clears the tail', () => {
  const tail = new LogTail(new TailBudget(3_000_000));
  add(tail, 0, 'a');
  tail.add(Buffer.alloc(2_000_000, 'L'), 1, 2);
  add(tail, 2, 'c');
  const read = tail.read(0, 3, 10_000_000, true);
  assert.deepEqual(
    read?.chunks.map((chunk) => chunk.length),
    [10, 2_000_000, 10],
  );
  tail.add(Buffer.alloc(3_000_001), 3, 4);
  assert.equal(tail.read(2, 3, 100, true), undefined);
});
