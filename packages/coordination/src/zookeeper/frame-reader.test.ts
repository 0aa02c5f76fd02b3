import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FrameReader } from './frame-reader.ts';
import { InvalidAnswerError } from './jute.ts';

const maxBytes = 100;

function frame(size: number, fill: number): Buffer {
  const bytes = Buffer.alloc(4 + size, fill);
  bytes.writeInt32BE(size, 0);
  return bytes;
}

function recorder(): { reader: FrameReader; taken: string[] } {
  const taken: string[] = [];
  const reader = new FrameReader(maxBytes, {
    take: (bytes) => taken.push(`${bytes.byteLength}×${bytes[0] ?? '-'}`),
    takeOversize: (head, bytes) => taken.push(`${bytes} too many, ${head.byteLength}×${head[0]}`),
  });
  return { reader, taken };
}

describe('frames', () => {
  const stream = Buffer.concat([frame(16, 1), frame(0, 0), frame(100, 2), frame(101, 3), frame(5000, 4), frame(3, 5)]);
  const whole = ['16×1', '0×-', '100×2', '101 too many, 16×3', '5000 too many, 16×4', '3×5'];

  for (const size of [1, 2, 3, 5, 7, 16, 21, 64, 117, 1000, stream.byteLength]) {
    it(`are found in pieces of ${size} bytes, and those that are too large are skipped`, () => {
      const { reader, taken } = recorder();
      for (let at = 0; at < stream.byteLength; at += size) {
        const chunk = Buffer.from(stream.subarray(at, at + size));
        reader.push(chunk);
        chunk.fill(0xdb); // It was lent.
      }
      assert.deepEqual(taken, whole);
    });
  }

  it('of a negative size are an error', () => {
    assert.throws(() => recorder().reader.push(Buffer.from([0xff, 0xff, 0xff, 0xff])), InvalidAnswerError);
    const { reader } = recorder();
    reader.push(Buffer.from([0xff, 0xff]));
    assert.throws(() => reader.push(Buffer.from([0xff, 0xff, 0])), InvalidAnswerError);
  });
});
