import assert from 'node:assert/strict';
import { test } from 'node:test';
import { int16At, int32At, int64At, putInt16, putInt32, putInt64, uint32At } from './big-endian.ts';

test('reads what Buffer writes', () => {
  const bytes = Buffer.alloc(12);
  for (const value of [0, 1, -1, 127, 128, 255, 256, -128, -32768, 32767]) {
    bytes.writeInt16BE(value, 1);
    assert.equal(int16At(bytes, 1), value);
  }
  for (const value of [0, 1, -1, 0x7fffffff, -0x80000000, 0x12345678]) {
    bytes.writeInt32BE(value, 2);
    assert.equal(int32At(bytes, 2), value);
    assert.equal(uint32At(bytes, 2), value >>> 0);
  }
});

test('int64 is exact within the safe range and saturates beyond it', () => {
  const bytes = Buffer.alloc(8);
  const largest = BigInt(Number.MAX_SAFE_INTEGER);
  const cases: readonly (readonly [bigint, number])[] = [
    [0n, 0],
    [-1n, -1],
    [4294967295n, 4294967295],
    [4294967296n, 4294967296],
    [-4294967296n, -4294967296],
    [-4294967297n, -4294967297],
    [largest, Number.MAX_SAFE_INTEGER],
    [-largest, Number.MIN_SAFE_INTEGER],
    [largest + 1n, Number.MAX_SAFE_INTEGER],
    [-largest - 1n, Number.MIN_SAFE_INTEGER],
    [2n ** 63n - 1n, Number.MAX_SAFE_INTEGER],
    [-(2n ** 63n), Number.MIN_SAFE_INTEGER],
  ];
  for (const [bits, value] of cases) {
    bytes.writeBigInt64BE(bits);
    assert.equal(int64At(bytes, 0), value, `${bits}`);
    if (!Number.isSafeInteger(Number(bits))) continue;
    const written = Buffer.alloc(8);
    putInt64(written, 0, value);
    assert.deepEqual(written, bytes, `${bits} written`);
  }
});

test('writes what Buffer reads', () => {
  const bytes = Buffer.alloc(8);
  putInt16(bytes, 0, -2);
  putInt32(bytes, 2, -3);
  assert.equal(bytes.readInt16BE(0), -2);
  assert.equal(bytes.readInt32BE(2), -3);
});
