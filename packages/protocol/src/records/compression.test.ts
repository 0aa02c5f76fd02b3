import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { compressFrameSync, decompressFrameSync } from 'lz4-napi';
import { type CompressionType, compress, compressAsync, compressionTypes, decompress, decompressAsync } from './compression.ts';
import { storedFrame } from './lz4.ts';
import { DecompressionError, UnsupportedCompressionTypeError } from './record-errors.ts';
import { compressSnappyInJavaScript, decodeBlock as decodeSnappyBlock } from './snappy.ts';
import { xxHash32 } from './xx-hash.ts';

const codecs = compressionTypes.filter((type) => type !== 'none');

/** Text that compresses, then noise that does not. */
function sample(size: number): Buffer {
  const bytes = Buffer.alloc(size, '{"user":"kafka","offset":12345,"place":"Prague"}\n');
  let state = 12345;
  for (let index = Math.floor(size / 2); index < size; index++) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    if (index % 5 !== 0) bytes[index] = state >>> 16;
  }
  return bytes;
}

const sizes = [0, 1, 11, 12, 13, 64, 1000, 32767, 32768, 32769, 65535, 65536, 65537, 300_000];

test('content comes back through every codec at every size', () => {
  for (const type of codecs) {
    for (const size of sizes) {
      const content = sample(size);
      assert.ok(decompress(type, compress(type, content), size).equals(content), `${type} ${size}`);
    }
  }
});

test('the asynchronous forms understand the synchronous ones', async () => {
  for (const type of compressionTypes) {
    for (const size of [0, 1, 1000, 100_000]) {
      const content = sample(size);
      assert.ok((await decompressAsync(type, compress(type, content))).equals(content), `${type} ${size} decompressed`);
      assert.ok(decompress(type, await compressAsync(type, content)).equals(content), `${type} ${size} compressed`);
    }
  }
});

test('long runs and overlapping matches come back', () => {
  for (const type of codecs) {
    for (const unit of ['\0', 'ab', 'abc', 'abcdefg', 'x'.repeat(70), sample(5000).toString('latin1')]) {
      const content = Buffer.alloc(200_001, unit, 'latin1');
      assert.ok(decompress(type, compress(type, content)).equals(content), `${type} ${unit.length}`);
    }
  }
});

test('the level is honoured where the codec has levels', () => {
  const content = sample(100_000);
  assert.ok(compress('gzip', content, 9).length < compress('gzip', content, 1).length);
  assert.ok(compress('zstd', content, 19).length < compress('zstd', content, -50).length);
});

test('zstd does not exist below magic 2', async () => {
  assert.throws(() => compress('zstd', Buffer.alloc(1), undefined, 1), UnsupportedCompressionTypeError);
  await assert.rejects(compressAsync('zstd', Buffer.alloc(1), undefined, 0), UnsupportedCompressionTypeError);
});

test('content beyond the bound is refused, content at the bound is not', async () => {
  for (const type of codecs) {
    const content = Buffer.alloc(5_000_000, 'bomb');
    const bytes = compress(type, content);
    assert.equal(decompress(type, bytes, content.length).length, content.length, type);
    assert.throws(() => decompress(type, bytes, content.length - 1), /more than the 4999999 bytes allowed/, type);
    await assert.rejects(decompressAsync(type, bytes, content.length - 1), DecompressionError, type);
  }
});

test('a size that the bytes cannot reach is refused before it is allocated', () => {
  const declaresTwoGigabytes = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07, 0x00, 0x41]);
  assert.throws(() => decompress('snappy', declaresTwoGigabytes, Number.MAX_SAFE_INTEGER), /cannot hold/);
});

test('truncated bytes are refused', () => {
  for (const type of codecs) {
    const bytes = compress(type, sample(3000));
    for (let length = 0; length < bytes.length; length += 1 + (length >> 4)) {
      // The framing of snappy has no end mark, so a stream that stops between two blocks is whole, as its header alone is.
      if (type === 'snappy' && length === 16) continue;
      assert.throws(() => decompress(type, bytes.subarray(0, length)), DecompressionError, `${type} ${length} of ${bytes.length}`);
    }
  }
});

test('mutated bytes only ever fail with DecompressionError, within the bound', () => {
  const originals = codecs.map((type): [CompressionType, Buffer] => [type, compress(type, sample(2500))]);
  const mutations = fc.array(fc.tuple(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(255)), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.constantFrom(...originals), mutations, ([type, original], changes) => {
      const bytes = Buffer.from(original);
      for (const [place, value] of changes) bytes[Math.floor(place * bytes.length)] = value;
      try {
        assert.ok(decompress(type, bytes, 100_000).length <= 100_000);
      } catch (error) {
        assert.ok(error instanceof DecompressionError, String(error));
      }
    }),
    { numRuns: 3000 },
  );
});

test('random bytes only ever fail with DecompressionError', () => {
  const header: Record<string, Buffer> = {
    gzip: Buffer.from('1f8b0800000000000003', 'hex'),
    snappy: Buffer.from('82534e41505059000000000100000001', 'hex'),
    lz4: Buffer.from('04224d18604082', 'hex'),
    zstd: Buffer.from('28b52ffd', 'hex'),
  };
  fc.assert(
    fc.property(fc.constantFrom(...codecs), fc.boolean(), fc.uint8Array({ maxLength: 200 }), (type, withHeader, random) => {
      const bytes = withHeader ? Buffer.concat([header[type]!, random]) : Buffer.from(random);
      try {
        decompress(type, bytes, 100_000);
      } catch (error) {
        assert.ok(error instanceof DecompressionError, String(error));
      }
    }),
    { numRuns: 3000 },
  );
});

test('gzip members and zstd frames that follow each other are one stream', async () => {
  const [first, second] = [sample(3000), sample(70_000)];
  const gzip = Buffer.concat([gzipSync(first), gzipSync(second)]);
  const skippable = Buffer.from('502a4d1804000000aabbccdd', 'hex');
  const zstd = Buffer.concat([skippable, zstdCompressSync(first), skippable, zstdCompressSync(second), skippable]);
  const both = Buffer.concat([first, second]);
  assert.ok(decompress('gzip', gzip).equals(both));
  assert.ok(decompress('zstd', zstd).equals(both));
  assert.ok((await decompressAsync('zstd', zstd)).equals(both));
  assert.throws(() => decompress('zstd', zstd, both.length - 1), /more than the 72999 bytes allowed/);
  assert.throws(() => decompress('zstd', skippable), DecompressionError);
});

test('snappy is read with and without the framing of the Java library', () => {
  const content = sample(100_000);
  const framed = compress('snappy', content);
  assert.equal(framed.toString('hex', 0, 16), '82534e41505059000000000100000001');
  const raw = compress('snappy', content.subarray(0, 30_000)).subarray(20);
  assert.ok(decompress('snappy', raw).equals(content.subarray(0, 30_000)), 'raw');
  const twice = decompress('snappy', Buffer.concat([framed, framed]));
  assert.ok(twice.equals(Buffer.concat([content, content])), 'joined streams');
});

test('snappy written in JavaScript is read, and our decoder agrees with the native one', () => {
  for (const size of sizes) {
    const content = sample(size);
    assert.ok(decompress('snappy', compressSnappyInJavaScript(content)).equals(content), `${size}`);
    if (size === 0 || size > 32_768) continue;
    const block = compress('snappy', content).subarray(20);
    const target = Buffer.alloc(size);
    decodeSnappyBlock(block, 0, block.length, target, 0, size);
    assert.ok(target.equals(content), `${size}`);
  }
});

test('our decoder of snappy only ever fails with DecompressionError', () => {
  const block = compress('snappy', sample(2500)).subarray(20);
  const changes = fc.array(fc.tuple(fc.nat(block.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(changes, (mutations) => {
      const bytes = Buffer.from(block);
      for (const [position, value] of mutations) bytes[position] = value;
      try {
        decodeSnappyBlock(bytes, 0, bytes.length, Buffer.alloc(2500), 0, 2500);
      } catch (error) {
        assert.ok(error instanceof DecompressionError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test('a snappy literal of negative length is refused', () => {
  // The length field of four bytes is all ones, which wraps to zero in 32 bits.
  assert.throws(() => decompress('snappy', Buffer.from('05fcffffffff4141414141', 'hex')), DecompressionError);
});

test('lz4 frames are written as Kafka reads them: version 1, independent blocks, no checksums of the content', () => {
  assert.equal(compress('lz4', sample(1000)).toString('hex', 0, 7), '04224d18604082');
});

test('magic 0 writes the header checksum of old producers and reads any', () => {
  const content = sample(1000);
  const frame = compress('lz4', content, undefined, 0);
  assert.equal(frame.toString('hex', 0, 7), '04224d1860401a');
  assert.ok(decompress('lz4', frame, undefined, 0).equals(content));
  assert.throws(() => decompress('lz4', frame, undefined, 1), /checksum of the frame header/);
  assert.ok(decompress('lz4', compress('lz4', content), undefined, 0).equals(content));
});

test('a frame of stored blocks, for platforms without the library, is read by both decoders', () => {
  for (const size of sizes) {
    const content = sample(size);
    assert.ok(decompress('lz4', storedFrame(content)).equals(content), `${size}`);
    assert.ok(decompressFrameSync(storedFrame(content)).equals(content), `${size} by lz4-napi`);
  }
});

test('lz4 frames with checksums are read, and a wrong block checksum is found', () => {
  const content = sample(100_000);
  const frame = compressFrameSync(content, { blockChecksums: true, contentChecksum: true });
  assert.ok(decompress('lz4', frame).equals(content));
  frame[40]! ^= 1;
  assert.throws(() => decompress('lz4', frame), /checksum of a block/);
});

test('lz4 frames that Kafka does not support are refused', async (t) => {
  const frame = compress('lz4', sample(1000));
  const cases: readonly (readonly [string, number, number, RegExp])[] = [
    ['no frame', 0, 0x05, /not a frame/],
    ['version 2', 4, 0xa0, /version/],
    ['linked blocks', 4, 0x40, /linked/],
    ['a reserved flag', 4, 0x62, /reserved/],
    ['a dictionary', 4, 0x61, /dictionaries/],
    ['an unknown block size', 5, 0x30, /block size/],
    ['a wrong header checksum', 6, 0x83, /header/],
  ];
  for (const [name, position, value, message] of cases) {
    await t.test(name, () => {
      const bytes = Buffer.from(frame);
      bytes[position] = value;
      assert.throws(() => decompress('lz4', bytes), message);
    });
  }
});

test('xxHash32 gives its published values', () => {
  const cases: readonly (readonly [string, number])[] = [
    ['', 0x02cc5d05],
    ['a', 0x550d7456],
    ['abc', 0x32d153ff],
    ['Nobody inspects the spammish repetition', 0xe2293b2f],
  ];
  for (const [text, hash] of cases) assert.equal(xxHash32(Buffer.from(text), 0, text.length), hash, text);
});

test('reads what the command line tools of the codecs write', async (t) => {
  const content = sample(700_000);
  const tools: readonly (readonly [CompressionType, string, readonly string[]])[] = [
    ['gzip', 'gzip', ['-c']],
    ['gzip', 'gzip', ['-c', '-9']],
    ['zstd', 'zstd', ['-c', '-q']],
    ['zstd', 'zstd', ['-c', '-q', '-19', '--no-check']],
    ['zstd', 'zstd', ['-c', '-q', '--fast=5', '--check']],
    ['lz4', 'lz4', ['-c', '-q', '-B4', '-BI', '-BX']],
    ['lz4', 'lz4', ['-c', '-q', '-9', '-B7', '-BI', '--no-frame-crc']],
    ['lz4', 'lz4', ['-c', '-q', '-12', '-B5', '-BI', '--content-size']],
  ];
  for (const [type, tool, options] of tools) {
    await t.test(`${tool} ${options.join(' ')}`, (context) => {
      const run = spawnSync(tool, options, { input: content, maxBuffer: 10_000_000 });
      if (run.error !== undefined) return context.skip(`there is no ${tool} on this machine`);
      assert.equal(run.status, 0, run.stderr.toString());
      assert.ok(decompress(type, run.stdout).equals(content));
    });
  }
  await t.test('lz4 with linked blocks is refused as Kafka refuses it', (context) => {
    const run = spawnSync('lz4', ['-c', '-q', '-B4', '-BD'], { input: content, maxBuffer: 10_000_000 });
    if (run.error !== undefined) return context.skip('there is no lz4 on this machine');
    assert.throws(() => decompress('lz4', run.stdout), /linked/);
  });
});

test('the command line tools of the codecs read what we write', async (t) => {
  const content = sample(300_000);
  for (const [type, tool] of [
    ['gzip', 'gzip'],
    ['zstd', 'zstd'],
    ['lz4', 'lz4'],
  ] as const) {
    await t.test(tool, (context) => {
      const run = spawnSync(tool, ['-d', '-c', '-q'], { input: compress(type, content), maxBuffer: 10_000_000 });
      if (run.error !== undefined) return context.skip(`there is no ${tool} on this machine`);
      assert.ok(run.stdout.equals(content), run.stderr.toString());
    });
  }
});
