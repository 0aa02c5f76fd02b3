import assert from 'node:assert/strict';
import { it } from 'node:test';
import { crc32c } from './crc32c.ts';

it('has the check value of the standard, however the bytes are cut', () => {
  const digits = Buffer.from('123456789');
  assert.equal(crc32c([digits]), 0xe3069283);
  for (let cut = 0; cut <= digits.length; cut++) assert.equal(crc32c([digits.subarray(0, cut), digits.subarray(cut)]), 0xe3069283);
  assert.equal(crc32c([]), 0);
});
