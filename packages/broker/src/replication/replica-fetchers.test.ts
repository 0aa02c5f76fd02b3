import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetcherNumber } from './replica-fetchers.ts';

// By Java: (31 * "hello".hashCode() + partition), whose absolute value is taken modulo the number of fetchers.
for (const { topic, partition, count, expected } of [
  { topic: 'hello', partition: 1, count: 4, expected: 1 },
  { topic: 'hello', partition: 2, count: 4, expected: 0 },
  { topic: 't', partition: 0, count: 7, expected: 3596 % 7 },
  { topic: '', partition: 5, count: 3, expected: 2 },
  { topic: 'hello', partition: 1, count: 1, expected: 0 },
]) {
  test(`partition ${partition} of "${topic}" goes to fetcher ${expected} of ${count}`, () => {
    assert.equal(fetcherNumber(topic, partition, count), expected);
  });
}
