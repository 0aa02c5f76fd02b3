import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MalformedMessageError } from './malformed-message-error.ts';
import { Reader } from './reader.ts';
import { zeroUuid } from './uuid.ts';
import { Writer } from './writer.ts';

function written(write: (writer: Writer) => void): Buffer {
  const writer = new Writer();
  write(writer);
  const { size } = writer;
  const bytes = Buffer.concat(writer.chunks());
  assert.equal(bytes.length, size);
  return bytes;
}

test('fixed numbers are big-endian and read back', () => {
  const bytes = written((writer) => {
    writer.bool(true);
    writer.int8(-2);
    writer.int16(-3);
    writer.uint16(65_535);
    writer.int32(-4);
    writer.uint32(0xfffffffe);
    writer.int64(-5_000_000_000);
    writer.float64(-0.5);
  });
  assert.equal(bytes.toString('hex'), `01fefffdffff${'fffffffc'}fffffffe${'fffffffed5fa0e00'}bfe0000000000000`);
  const reader = new Reader(bytes);
  assert.equal(reader.bool(), true);
  assert.equal(reader.int8(), -2);
  assert.equal(reader.int16(), -3);
  assert.equal(reader.uint16(), 65_535);
  assert.equal(reader.int32(), -4);
  assert.equal(reader.uint32(), 0xfffffffe);
  assert.equal(reader.int64(), -5_000_000_000);
  assert.equal(reader.float64(), -0.5);
  assert.equal(reader.remaining, 0);
});

const texts = [
  '',
  'a',
  'twelve-chars',
  'thirteen-char',
  'é'.repeat(6),
  'é'.repeat(63),
  'é'.repeat(64),
  '日'.repeat(42),
  '日'.repeat(43),
  '🚀'.repeat(21),
  'x'.repeat(126),
  'x'.repeat(127),
  'y'.repeat(20_000),
];

test('texts of any length and alphabet read back in both forms', () => {
  for (const text of texts) {
    const plain = written((writer) => writer.string(text));
    assert.equal(plain.readInt16BE(0), Buffer.byteLength(text));
    const reader = new Reader(plain);
    assert.equal(reader.string(reader.int16(), 'text'), text);
    const compact = new Reader(written((writer) => writer.compactString(text)));
    assert.equal(compact.string(compact.compactLength(), 'text'), text);
    assert.equal(compact.remaining, 0);
  }
});

test('a uuid is 16 bytes and 22 characters', () => {
  const uuid = 'wDT4LlB1SjyTMsVIf0EBcw';
  const bytes = written((writer) => {
    writer.uuid(uuid);
    writer.uuid(zeroUuid);
  });
  assert.equal(bytes.length, 32);
  const reader = new Reader(bytes);
  assert.equal(reader.uuid(), uuid);
  assert.equal(reader.uuid(), zeroUuid);
  assert.throws(() => written((writer) => writer.uuid('short')), /Not a uuid/);
  assert.throws(() => written((writer) => writer.uuid('!!!!!!!!!!!!!!!!!!!!!!')), /Not a uuid/);
});

test('pieces by reference stay between what was written around them', () => {
  const piece = Buffer.from('piece');
  const writer = new Writer();
  writer.records(piece);
  writer.records([piece, Buffer.alloc(0), piece]);
  writer.int8(9);
  assert.equal(writer.size, 4 + 5 + 4 + 10 + 1);
  const chunks = writer.chunks();
  assert.equal(Buffer.concat(chunks).toString('latin1'), '\0\0\0\x05piece\0\0\0\x0apiecepiece\x09');
  assert.equal(chunks.filter((chunk) => chunk === piece).length, 3);
});

test('a writer is empty after its chunks were taken, and what was taken stays as it was', () => {
  const writer = new Writer();
  writer.int32(1);
  const first = Buffer.concat(writer.chunks());
  assert.equal(writer.size, 0);
  writer.int32(2);
  writer.raw(Buffer.alloc(5000));
  assert.equal(first.readInt32BE(0), 1);
  assert.equal(Buffer.concat(writer.chunks()).length, 5004);
  assert.deepEqual(writer.chunks(), [Buffer.alloc(0)]);
});

test('a size can be put in after the fact', () => {
  const bytes = written((writer) => {
    writer.int32(0);
    writer.string('body');
    writer.patchInt32(0, writer.size - 4);
  });
  assert.equal(bytes.readInt32BE(0), 6);
});

test('a reader stays within its bounds', () => {
  const buffer = Buffer.from('0102030405', 'hex');
  const reader = new Reader(buffer, 1, 4);
  assert.equal(reader.int16(), 0x0203);
  assert.equal(reader.remaining, 1);
  assert.throws(() => reader.int16(), MalformedMessageError);
  assert.equal(reader.int8(), 4);
  assert.throws(() => reader.int8(), MalformedMessageError);
});
