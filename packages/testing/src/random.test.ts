import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom, systemRandom } from '@odradek/runtime';
import { randomContract } from './random.contract.ts';

randomContract('system', systemRandom);
randomContract('seeded', new SeededRandom(7));
randomContract('seeded with a large seed', new SeededRandom(2 ** 52 + 5));

test('the same seed draws the same numbers, another one draws others', () => {
  const draw = (seed: number): number[] => {
    const random = new SeededRandom(seed);
    return [random.next(), random.nextInt(1_000_000), ...random.bytes(8)];
  };
  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(1), draw(2));
  assert.notDeepEqual(draw(1), draw(1 + 2 ** 32));
});
