import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MalformedMessageError } from './malformed-message-error.ts';
import { Reader } from './reader.ts';
import { sizeOfUnsignedVarint, sizeOfVarint, sizeOfVarlong } from './varint.ts';
import { Writer } from './writer.ts';

/** Bounds of each length in bytes, and the ends of the types. */
const unsigned: readonly (readonly [number, string])[] = [
  [0, '00'],
  [1, '01'],
  [127, '7f'],
  [128, '8001'],
  [16_383, 'ff7f'],
  [16_384, '808001'],
  [2_097_151, 'ffff7f'],
  [2_097_152, '80808001'],
  [268_435_455, 'ffffff7f'],
  [268_435_456, '8080808001'],
  [0xffffffff, 'ffffffff0f'],
];
const signed: readonly (readonly [number, string])[] = [
  [0, '00'],
  [-1, '01'],
  [1, '02'],
  [-64, '7f'],
  [64, '8001'],
  [-65, '8101'],
  [0x7fffffff, 'feffffff0f'],
  [-0x80000000, 'ffffffff0f'],
];
const long: readonly (readonly [number, string])[] = [
  ...signed,
  [0x80000000, '8080808010'],
  [-0x80000001, '8180808010'],
  [2 ** 34 - 1, 'feffffff7f'],
  [2 ** 34, '808080808001'],
  [1_700_000_000_000, '80a0abfef962'],
  [-1_700_000_000_000, 'ff9fabfef962'],
  [Number.MAX_SAFE_INTEGER, 'feffffffffffff1f'],
  [Number.MIN_SAFE_INTEGER, 'fdffffffffffff1f'],
];

const kinds = [
  { name: 'unsigned varint', cases: unsigned, size: sizeOfUnsignedVarint, method: 'unsignedVarint' },
  { name: 'varint', cases: signed, size: sizeOfVarint, method: 'varint' },
  { name: 'varlong', cases: long, size: sizeOfVarlong, method: 'varlong' },
] as const;

for (const { name, cases, size, method } of kinds) {
  test(`a ${name} is written, measured and read`, () => {
    for (const [value, hex] of cases) {
      const writer = new Writer();
      writer[method](value);
      assert.equal(Buffer.concat(writer.chunks()).toString('hex'), hex, `${value} written`);
      assert.equal(size(value), hex.length / 2, `${value} measured`);
      assert.equal(new Reader(Buffer.from(hex, 'hex'))[method](), value, `${value} read`);
    }
  });
}

test('a varlong beyond the safe integers is read as the nearest safe one', () => {
  assert.equal(new Reader(Buffer.from('feffffffffffffffff01', 'hex')).varlong(), Number.MAX_SAFE_INTEGER);
  assert.equal(new Reader(Buffer.from('ffffffffffffffffff01', 'hex')).varlong(), Number.MIN_SAFE_INTEGER);
});

test('a varint or varlong that does not end in time is malformed', () => {
  const endless = Buffer.alloc(20, 0x80);
  assert.throws(() => new Reader(endless).unsignedVarint(), MalformedMessageError);
  assert.throws(() => new Reader(endless).varlong(), MalformedMessageError);
  assert.throws(() => new Reader(endless.subarray(0, 3)).varint(), MalformedMessageError);
});
