import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameCutter, frame } from './frame.ts';
import { MalformedMessageError } from './malformed-message-error.ts';

const limit = 10 * 1024 * 1024;

function framed(...bodies: readonly Buffer[]): Buffer {
  return Buffer.concat(bodies.flatMap((body) => frame([body])));
}

/** All frames that come out when the stream arrives in pieces of these sizes; the last size repeats. */
function cut(stream: Buffer, sizes: readonly number[]): Buffer[] {
  const cutter = new FrameCutter(limit);
  const frames: Buffer[] = [];
  let position = 0;
  for (let piece = 0; position < stream.length; piece++) {
    const size = sizes[Math.min(piece, sizes.length - 1)] ?? 1;
    // A copy, so that a frame kept by reference to a chunk that is used again would show.
    cutter.add(Buffer.from(stream.subarray(position, position + size)));
    position += size;
    for (let next = cutter.next(); next !== null; next = cutter.next()) frames.push(next);
  }
  assert.equal(cutter.pendingBytes, 0);
  return frames;
}

const bodies = [Buffer.from('hello'), Buffer.alloc(0), Buffer.alloc(300, 'x'), Buffer.from('!')];

for (const sizes of [[1], [2], [3], [4], [5], [7, 2], [9], [13, 1], [100], [100_000]]) {
  test(`frames come out whole when chunks have the sizes ${sizes}`, () => {
    assert.deepEqual(cut(framed(...bodies), sizes), bodies);
  });
}

test('a frame within one chunk is a slice of it', () => {
  const chunk = framed(Buffer.from('one'), Buffer.from('two'));
  const cutter = new FrameCutter(limit);
  cutter.add(chunk);
  const [one, two] = [cutter.next(), cutter.next()];
  assert.equal(one?.buffer, chunk.buffer);
  assert.equal(two?.toString(), 'two');
  assert.equal(cutter.next(), null);
});

test('a frame of several megabytes is put together from its chunks', () => {
  const body = Buffer.alloc(3 * 1024 * 1024, 'abcdefg');
  assert.deepEqual(cut(framed(body, Buffer.from('next')), [65_536]), [body, Buffer.from('next')]);
});

test('the promise of a large frame holds only what has arrived', () => {
  const cutter = new FrameCutter(0x7fffffff);
  const before = process.memoryUsage().arrayBuffers;
  cutter.add(Buffer.from('7fffffff01', 'hex'));
  assert.equal(cutter.next(), null);
  assert.equal(cutter.pendingBytes, 1);
  assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024);
});

test('a negative size is malformed', () => {
  const cutter = new FrameCutter(limit);
  cutter.add(Buffer.from('ffffffff', 'hex'));
  assert.throws(() => cutter.next(), MalformedMessageError);
});

test('a size beyond the limit is malformed, after the frames before it came out', () => {
  const cutter = new FrameCutter(8);
  cutter.add(Buffer.concat([framed(Buffer.alloc(8)), Buffer.from('00000009', 'hex')]));
  assert.equal(cutter.next()?.length, 8);
  assert.throws(() => cutter.next(), /exceeds the limit of 8/);
});

for (const { name, bytes, said } of [
  { name: 'TLS', bytes: Buffer.from('1603010200', 'hex'), said: /exceeds the limit of 104857600: the peer begins TLS/ },
  { name: 'HTTP', bytes: Buffer.from('GET / HTTP/1.1'), said: /the peer speaks HTTP/ },
  { name: 'something else', bytes: Buffer.from('7fffffff', 'hex'), said: /exceeds the limit of 104857600$/ },
]) {
  test(`a size that is the beginning of ${name} is named as that`, () => {
    const cutter = new FrameCutter(104857600);
    cutter.add(bytes);
    assert.throws(() => cutter.next(), { message: said });
  });
}

test('a chunk is refused while frames of the last one wait', () => {
  const cutter = new FrameCutter(limit);
  cutter.add(framed(Buffer.from('one'), Buffer.from('two')));
  cutter.next();
  assert.throws(() => cutter.add(Buffer.alloc(1)), /before the frames/);
});

for (const chunkSize of [1_000, 16_384, 32_768, 65_536, 1_000_000]) {
  test(`with buffers of the caller's, frames of all sizes come out of a chunk of ${chunkSize} that is used again`, () => {
    const sizes = [0, 5, 8_000, 32_767, 32_768, 32_769, 66_000, 900_000, 1_048_576, 1_048_577, 3_000_000, 7];
    const stream = framed(...sizes.map((size, index) => Buffer.alloc(size, `${index}-`)));
    let allocated = 0;
    const cutter = new FrameCutter(limit, (size) => {
      allocated += 1;
      return Buffer.allocUnsafe(size);
    });
    const chunk = Buffer.alloc(chunkSize);
    const frames: Buffer[] = [];
    for (let position = 0; position < stream.length; position += chunkSize) {
      const size = stream.copy(chunk, 0, position, position + chunkSize);
      cutter.add(chunk.subarray(0, size));
      for (let next = cutter.next(); next !== null; next = cutter.next()) frames.push(next);
      chunk.fill(0xff);
    }
    assert.ok(frames.every((body, index) => body.equals(Buffer.alloc(sizes[index] ?? 0, `${index}-`))));
    assert.equal(frames.length, sizes.length);
    assert.equal(allocated, 9);
  });
}

test('what is left of a chunk can be made the cutter’s own', () => {
  const chunk = framed(Buffer.from('one'), Buffer.from('two'));
  const cutter = new FrameCutter(limit, (size) => Buffer.allocUnsafe(size));
  cutter.add(chunk);
  assert.equal(cutter.next()?.toString(), 'one');
  assert.equal(cutter.isDrained, false);
  cutter.own();
  chunk.fill(0xff);
  assert.equal(cutter.next()?.toString(), 'two');
  assert.equal(cutter.isDrained, true);
});

test('a large frame gets its buffer only when a part of it has come', () => {
  let allocated = 0;
  const cutter = new FrameCutter(limit, (size) => {
    allocated += size;
    return Buffer.allocUnsafe(size);
  });
  cutter.add(framed(Buffer.alloc(1_000_000)).subarray(0, 20_000));
  assert.equal(cutter.next(), null);
  assert.equal(allocated, 0);
  cutter.add(Buffer.alloc(20_000));
  assert.equal(cutter.next(), null);
  assert.equal(allocated, 1_000_000);
});
