import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ProtocolError } from '../error-codes.ts';
import { FetchRequest } from '../messages/01-fetch.ts';
import { MetadataResponse } from '../messages/03-metadata.ts';
import { ConsumerProtocolSubscription } from '../messages/group-subscription.ts';
import { MalformedMessageError } from '../wire/malformed-message-error.ts';
import { Reader } from '../wire/reader.ts';
import { zeroUuid } from '../wire/uuid.ts';
import { Writer } from '../wire/writer.ts';
import { codecFor, decodeMessage, encodeMessage, encodeToBuffer, exactCodecFor } from './codec.ts';
import { codecName, codecSource } from './compile.ts';
import {
  array,
  bool,
  bytes,
  int8,
  int16,
  int32,
  int64,
  int64Bits,
  type MessageDefinition,
  message,
  records,
  string,
  struct,
  uuid,
} from './define.ts';

/** One of each: version 0 is plain, 1 adds and drops fields, 2 is flexible. */
const Example = message({
  name: 'ExampleRequest',
  type: 'request',
  apiKey: 9999,
  versions: '0-2',
  flexible: '2+',
  fields: {
    id: int32({ default: 7 }),
    dropped: string({ versions: '0' }),
    ignored: string({ versions: '1+', default: 'x', ignorable: true }),
    added: int64({ versions: '1+', default: -1 }),
    reason: string({ nullable: '1+', default: null }),
    tagged: uuid({ versions: '2+', tag: 1 }),
    where: struct({ offset: int64({ default: -1 }), name: string() }, { versions: '2+', tag: 0 }),
    maybe: struct({ flag: bool() }, { versions: '1+', nullable: '1+', default: null }),
    parts: array(struct({ index: int32(), data: records({ nullable: '0+' }) }), { nullable: '1+' }),
    names: array(string()),
    blob: bytes(),
  },
});

test('what is left out is written as the default and read as the default', () => {
  assert.deepEqual(decodeMessage(Example, 2, encodeToBuffer(Example, 2, {})), {
    id: 7,
    dropped: '',
    ignored: 'x',
    added: -1,
    reason: null,
    tagged: zeroUuid,
    where: { offset: -1, name: '' },
    maybe: null,
    parts: [],
    names: [],
    blob: Buffer.alloc(0),
  });
});

test('a message read in any version has the same keys in the same order', () => {
  for (const version of [0, 1, 2]) {
    assert.deepEqual(
      Object.keys(decodeMessage(Example, version, encodeToBuffer(Example, version, {}))),
      Object.keys(Example.fields),
    );
  }
});

test('a value that the version cannot carry is an error, unless it is the default or its field is ignorable', () => {
  const unsupported = (error: unknown): boolean => error instanceof ProtocolError && error.codeName === 'UNSUPPORTED_VERSION';
  assert.throws(() => encodeToBuffer(Example, 0, { added: 5 }), unsupported);
  assert.throws(() => encodeToBuffer(Example, 1, { dropped: 'old' }), unsupported);
  assert.throws(() => encodeToBuffer(Example, 1, { where: { offset: 3 } }), unsupported);
  assert.throws(() => encodeToBuffer(Example, 0, { maybe: { flag: false } }), unsupported);
  const plain = encodeToBuffer(Example, 0, {});
  assert.deepEqual(encodeToBuffer(Example, 0, { ignored: 'lost', added: -1, where: { offset: -1 }, maybe: null }), plain);
});

test('null is an error where the version has no form for it', () => {
  assert.throws(() => encodeToBuffer(Example, 0, { reason: null }), /reason must not be null/);
  assert.throws(() => encodeToBuffer(Example, 0, { parts: null }), /parts must not be null/);
  assert.throws(
    () => decodeMessage(Example, 0, Buffer.from('00000000 0000 ffff'.replaceAll(' ', ''), 'hex')),
    /reason must not be null/,
  );
});

test('there is no codec for a version outside the definition', () => {
  assert.throws(() => codecFor(Example, 3), ProtocolError);
  assert.throws(() => codecFor(Example, -1), ProtocolError);
});

test('records pass through by reference', () => {
  const first = Buffer.from('first');
  const second = Buffer.from('second');
  const chunks = encodeMessage(Example, 2, {
    parts: [
      { index: 1, data: [first, second] },
      { index: 2, data: first },
      { index: 3, data: null },
    ],
  });
  assert.equal(chunks.filter((chunk) => chunk === first).length, 2);
  assert.equal(chunks.filter((chunk) => chunk === second).length, 1);
  const frame = Buffer.concat(chunks);
  const decoded = decodeMessage(Example, 2, frame);
  assert.deepEqual(
    decoded.parts?.map((part) => part.data?.toString() ?? null),
    ['firstsecond', 'first', null],
  );
  assert.equal(decoded.parts?.[0]?.data?.buffer, frame.buffer);
});

test('an int64 beyond the safe integers is read as the nearest safe one, and exactly where every bit matters', () => {
  const Numbers = message({
    name: 'Numbers',
    type: 'data',
    versions: '0',
    flexible: 'none',
    fields: { number: int64(), bits: int64Bits() },
  });
  const cases: readonly (readonly [bigint, number])[] = [
    [0x7fffffffffffffffn, Number.MAX_SAFE_INTEGER],
    [-0x8000000000000000n, Number.MIN_SAFE_INTEGER],
    [0x1fffffffffffffn, Number.MAX_SAFE_INTEGER],
    [-0x1fffffffffffffn, Number.MIN_SAFE_INTEGER],
    [0x20000000000000n, Number.MAX_SAFE_INTEGER],
    [-0x20000000000000n, Number.MIN_SAFE_INTEGER],
    [-1n, -1],
    [0xffffffffn, 0xffffffff],
    [-0x100000001n, -0x100000001],
  ];
  for (const [exact, number] of cases) {
    const buffer = Buffer.alloc(16);
    buffer.writeBigInt64BE(exact, 0);
    buffer.writeBigInt64BE(exact, 8);
    assert.deepEqual(decodeMessage(Numbers, 0, buffer), { number, bits: exact });
    if (BigInt(number) === exact) assert.deepEqual(encodeToBuffer(Numbers, 0, { number, bits: exact }), buffer);
    const codec = exactCodecFor(Numbers, 0);
    const writer = new Writer();
    codec.write(writer, codec.read(new Reader(buffer)));
    assert.deepEqual(writer.chunks(), [buffer]);
  }
});

const Tagged = message({
  name: 'Tagged',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: { second: int16({ tag: 2 }), first: string({ tag: 0, nullable: '0+', default: null }) },
});

test('tagged fields are written in the order of their tags, and only when they are not the default', () => {
  assert.equal(encodeToBuffer(Tagged, 0, {}).toString('hex'), '00');
  assert.equal(encodeToBuffer(Tagged, 0, { second: 0, first: null }).toString('hex'), '00');
  assert.equal(
    encodeToBuffer(Tagged, 0, { second: 5, first: 'a' }).toString('hex'),
    '02' + '00' + '02' + '0261' + '02' + '02' + '0005',
  );
});

test('a tagged field of more than 127 bytes has a longer size before it', () => {
  const first = 'ab'.repeat(100);
  assert.deepEqual(decodeMessage(Tagged, 0, encodeToBuffer(Tagged, 0, { first, second: 3 })), { first, second: 3 });
});

test('unknown tagged fields are skipped, and kept in the exact mode', () => {
  const buffer = Buffer.from('03' + '01' + '03' + 'aabbcc' + '02' + '02' + '0005' + '09' + '00', 'hex');
  assert.deepEqual(decodeMessage(Tagged, 0, buffer), { second: 5, first: null });
  const codec = exactCodecFor(Tagged, 0);
  const exact = codec.read(new Reader(buffer));
  assert.deepEqual(exact.unknownTaggedFields, [
    { tag: 1, bytes: Buffer.from('aabbcc', 'hex') },
    { tag: 9, bytes: Buffer.alloc(0) },
  ]);
  const writer = new Writer();
  codec.write(writer, exact);
  assert.deepEqual(Buffer.concat(writer.chunks()), buffer);
});

test('unknown tagged fields that are out of order, or there twice, are not written', () => {
  const write = (tags: readonly number[], second: number): void => {
    const unknownTaggedFields = tags.map((tag) => ({ tag, bytes: Buffer.alloc(1) }));
    exactCodecFor(Tagged, 0).write(new Writer(), { second, unknownTaggedFields });
  };
  assert.throws(() => write([5, 3], 0), /twice, or out of order/);
  assert.throws(() => write([5, 5], 0), /twice, or out of order/);
  assert.throws(() => write([1, 2], 7), /twice, or out of order/);
  write([1, 3], 7);
});

const malformed: readonly { readonly name: string; readonly hex: string; readonly pattern: RegExp }[] = [
  { name: 'nothing at all', hex: '', pattern: /1 bytes expected/ },
  { name: 'a tagged field that reaches beyond the end', hex: '010205', pattern: /only 0 are left/ },
  { name: 'a tagged field that is longer than its value', hex: '010203000500', pattern: /not at 6 as its size says/ },
  { name: 'a tagged field that is shorter than its value', hex: '0102010005', pattern: /not at 4 as its size says/ },
  { name: 'a varint that does not end', hex: 'ffffffffffff', pattern: /longer than five bytes/ },
  { name: 'a string that reaches beyond the end', hex: '01000109', pattern: /8 bytes expected/ },
];
for (const { name, hex, pattern } of malformed) {
  test(`${name} is malformed`, () => {
    assert.throws(
      () => decodeMessage(Tagged, 0, Buffer.from(hex, 'hex')),
      (error) => error instanceof MalformedMessageError && pattern.test(error.message),
    );
  });
}

test('the number of elements is checked against the bytes that are left before anything is made', () => {
  const claims2Billion = Buffer.from('0000 7fffffff 00000000'.replaceAll(' ', ''), 'hex');
  assert.throws(
    () => decodeMessage(ConsumerProtocolSubscription, 0, claims2Billion.subarray(2)),
    /topics cannot have 2147483647 elements/,
  );
  const Empty = message({ name: 'Empty', type: 'data', versions: '0', flexible: 'none', fields: { parts: array(struct({})) } });
  assert.throws(() => decodeMessage(Empty, 0, Buffer.from('0000ffff', 'hex')), /parts cannot have 65535 elements/);
});

test('the number of elements of a whole message has a bound, however few bytes each takes', () => {
  const Many = message({ name: 'Many', type: 'data', versions: '0', flexible: '0+', fields: { parts: array(struct({})) } });
  const count = 5_000_001;
  const writer = new Writer();
  writer.unsignedVarint(count + 1);
  writer.raw(Buffer.alloc(count + 1));
  const buffer = Buffer.concat(writer.chunks());
  assert.throws(() => decodeMessage(Many, 0, buffer), /cannot have more than 5000000 elements/);
});

test('a text longer than an int16 can say is refused where the length is one', () => {
  const long = 'x'.repeat(0x8000);
  assert.throws(() => encodeToBuffer(Example, 1, { ignored: long }), RangeError);
  assert.equal(decodeMessage(Example, 2, encodeToBuffer(Example, 2, { ignored: long })).ignored, long);
});

test('only names that are plain identifiers get into code', () => {
  const evil = { ...Example, name: 'Evil', fields: { 'a(); b': int8() } } satisfies MessageDefinition;
  assert.throws(() => codecSource(evil, 0, 'ordinary'), /cannot name a message or a field/);
  const evilName: MessageDefinition = { ...Example, name: 'x\n*/process.exit()' };
  assert.throws(() => codecSource(evilName, 0, 'ordinary'), /cannot name a message or a field/);
});

test('names of the language can name fields', () => {
  const Odd = message({
    name: 'Odd',
    type: 'data',
    versions: '0',
    flexible: 'none',
    fields: { default: int8(), reader: array(int8()), message: string(), value: struct({ none: bool() }) },
  });
  const value = { default: 1, reader: [2, 3], message: 'm', value: { none: true } };
  assert.deepEqual(decodeMessage(Odd, 0, encodeToBuffer(Odd, 0, value)), value);
});

// The code for three messages as it is compiled. Rewritten by ODRADEK_REWRITE=true; the difference wants reviewing like any other code.
const printed: readonly (readonly [MessageDefinition, number])[] = [
  [FetchRequest, 12],
  [MetadataResponse, 1],
  [ConsumerProtocolSubscription, 3],
];
for (const [definition, version] of printed) {
  const file = `${codecName(definition)}-v${version}.js`;
  test(`${file} is the code that is compiled`, () => {
    const path = join(import.meta.dirname, 'testdata', file);
    const source = codecSource(definition, version, 'ordinary');
    if (process.env.ODRADEK_REWRITE === 'true') {
      mkdirSync(join(import.meta.dirname, 'testdata'), { recursive: true });
      writeFileSync(path, source);
    }
    assert.equal(source, readFileSync(path, 'utf8'));
  });
}
