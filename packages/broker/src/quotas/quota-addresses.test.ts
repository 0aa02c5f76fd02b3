import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainAddress } from './quota-addresses.ts';

for (const [text, plain] of [
  ['127.0.0.1', '127.0.0.1'],
  ['010.0.0.1', '10.0.0.1'],
  ['256.0.0.1', undefined],
  ['1.2.3', undefined],
  ['::1', '::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['FE80::0A', 'fe80::a'],
  ['::ffff:192.168.1.2', '192.168.1.2'],
  ['::ffff:c0a8:0102', '192.168.1.2'],
  ['::g', undefined],
  ['1::2::3', undefined],
  ['localhost', undefined],
  ['a]/b:c', undefined],
  ['', undefined],
] as const) {
  test(`"${text}" is ${plain ?? 'no address'}`, () => assert.equal(plainAddress(text), plain));
}
