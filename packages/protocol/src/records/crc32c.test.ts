import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, crc32c, crc32cInJavaScript } from './crc32c.ts';

test('gives the check values of both polynomials', () => {
  const digits = Buffer.from('123456789');
  assert.equal(crc32c(digits), 0xe3069283);
  assert.equal(crc32(digits), 0xcbf43926);
  assert.equal(crc32c(Buffer.alloc(0)), 0);
});

test('the native form and our own agree at every size around the crossover and at every alignment', () => {
  const bytes = Buffer.alloc(700);
  for (let index = 0; index < bytes.length; index++) bytes[index] = (index * 197 + (index >>> 3)) & 0xff;
  for (let size = 0; size < 640; size += 7) {
    for (let start = 0; start < 9; start++) {
      assert.equal(
        crc32c(bytes, start, start + size),
        crc32cInJavaScript(bytes, start, start + size),
        `${size} bytes from ${start}`,
      );
    }
  }
});
