// What every Random does, drawn from the system or from a seed.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Random } from '@odradek/runtime';

export function randomContract(name: string, random: Random): void {
  describe(`random: ${name}`, () => {
    test('next is in [0, 1) and spread evenly', () => {
      const counts = new Array<number>(10).fill(0);
      for (let draw = 0; draw < 20_000; draw++) {
        const value = random.next();
        assert.ok(value >= 0 && value < 1);
        counts[Math.floor(value * 10)]! += 1;
      }
      // 2,000 expected in each; 300 is seven standard deviations.
      for (const count of counts) {
        assert.ok(Math.abs(count - 2_000) < 300, counts.join(' '));
      }
    });

    test('nextInt takes every value below the bound and no other', () => {
      const seen = new Set<number>();
      for (let draw = 0; draw < 1_000; draw++) {
        seen.add(random.nextInt(7));
      }
      assert.deepEqual([...seen].sort(), [0, 1, 2, 3, 4, 5, 6]);
    });

    test('bytes gives as many as asked for, all values among them', () => {
      assert.equal(random.bytes(0).byteLength, 0);
      const bytes = random.bytes(16_384);
      assert.equal(bytes.byteLength, 16_384);
      assert.equal(new Set(bytes).size, 256);
    });
  });
}
