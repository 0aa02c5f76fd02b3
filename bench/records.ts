// Record batches: what the broker's path does for each batch, and what the codecs cost. Prints one table for each.
//
//   node --conditions=odradek-source bench/records.ts

import { createRequire } from 'node:module';
import {
  buildRecordBatch,
  type CompressionType,
  compress,
  compressAsync,
  compressionTypes,
  crc32c,
  decompress,
  iterateBatches,
  RecordBatch,
  validateRecords,
} from '@odradek/protocol';

const rounds = 5;

/** The best of several rounds, in ns for each call; the other rounds met other work of the machine. */
function nanoseconds(calls: number, run: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint();
    for (let call = 0; call < calls; call++) run();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / calls);
  }
  return best;
}

async function nanosecondsAsync(calls: number, run: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint();
    for (let call = 0; call < calls; call++) await run();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / calls);
  }
  return best;
}

function row(...cells: readonly (string | number)[]): void {
  console.log(cells.map((cell, index) => (index === 0 ? String(cell).padEnd(44) : String(cell).padStart(12))).join(''));
}

const throughput = (bytes: number, ns: number): string => `${((bytes / ns) * 1000).toFixed(0)} MB/s`;

/** Records that look like those of an application: JSON with names that repeat and numbers that do not. */
function jsonRecords(total: number, size: number): { timestamp: number; value: Buffer }[] {
  let state = 1;
  const number = () => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff);
  return Array.from({ length: Math.floor(total / size) }, (_, index) => ({
    timestamp: 1700000000000 + index,
    value: Buffer.from(
      `{"user":"user-${number() % 1000}","item":${number()},"price":${number() % 10000},"place":"Praha"}`
        .padEnd(size - 8, ' order')
        .slice(0, size - 8),
    ),
  }));
}

const records = jsonRecords(65536, 100);
const plain = buildRecordBatch({}, records);

row('header', 'ns');
const single = Buffer.from(plain);
let sink = 0;
row(
  'view, read 8 fields, stamp offset and epoch',
  nanoseconds(500_000, () => {
    const batch = new RecordBatch(single);
    sink +=
      batch.sizeInBytes +
      batch.crc +
      batch.recordCount +
      batch.producerId +
      batch.lastOffset +
      batch.maxTimestamp +
      batch.attributes;
    batch.setBaseOffset(sink % 1_000_000);
    batch.setPartitionLeaderEpoch(3);
  }).toFixed(0),
);
row(
  'iterate over one batch',
  nanoseconds(200_000, () => {
    for (const batch of iterateBatches(single)) sink += batch.magic;
  }).toFixed(0),
);

console.log();
row('CRC-32C', 'ns', 'MB/s');
for (const size of [61, 128, 256, 512, 1024, 16384, 65536, 1048576]) {
  const bytes = Buffer.alloc(size, 'kafka');
  const ns = nanoseconds(Math.ceil(5_000_000 / (size + 100)), () => {
    sink += crc32c(bytes);
  });
  row(`${size} bytes`, ns.toFixed(0), throughput(size, ns));
}

console.log();
row(`${records.length} records of 100 bytes`, 'µs', 'ns/record', 'MB/s');
const batch = new RecordBatch(plain);
for (const [name, run] of [
  ['check structure (validateRecords)', () => validateRecords(batch).recordCount],
  ['read all (records)', () => [...batch.records()].length],
  ['build uncompressed', () => buildRecordBatch({}, records).length],
] as const) {
  const ns = nanoseconds(200, () => {
    sink += run();
  });
  row(name, (ns / 1000).toFixed(0), (ns / records.length).toFixed(0), throughput(plain.length, ns));
}
for (const type of compressionTypes.slice(1)) {
  const compressed = new RecordBatch(buildRecordBatch({ compression: type }, records));
  const ns = nanoseconds(50, () => {
    sink += validateRecords(compressed).recordCount;
  });
  row(`check structure, ${type}`, (ns / 1000).toFixed(0), (ns / records.length).toFixed(0), throughput(plain.length, ns));
}

console.log();
row('codec, MB/s of content', 'ratio', 'compress', 'decompress', 'async compress');
for (const total of [4096, 65536, 1048576]) {
  const content = buildRecordBatch({}, jsonRecords(total, 100)).subarray(61);
  for (const type of compressionTypes.slice(1)) await codecRow(type, content);
}

async function codecRow(type: CompressionType, content: Buffer): Promise<void> {
  const bytes = compress(type, content);
  const calls = Math.max(3, Math.ceil(3_000_000 / content.length));
  row(
    `${type} ${content.length} bytes`,
    (content.length / bytes.length).toFixed(1),
    throughput(
      content.length,
      nanoseconds(calls, () => {
        sink += compress(type, content).length;
      }),
    ),
    throughput(
      content.length,
      nanoseconds(calls, () => {
        sink += decompress(type, bytes).length;
      }),
    ),
    throughput(content.length, await nanosecondsAsync(calls, () => compressAsync(type, content))),
  );
}

console.log();
row('libraries for comparison, decompress', 'lz4-napi', 'snappyjs', 'snappy');
const require = createRequire(new URL('../packages/protocol/package.json', import.meta.url));
const lz4 = require('lz4-napi') as typeof import('lz4-napi');
const snappyjs = require('snappyjs') as { uncompress(bytes: Buffer): Buffer; compress(bytes: Buffer): Buffer };
const snappy = require('snappy') as typeof import('snappy');
for (const total of [4096, 65536, 1048576]) {
  const content = buildRecordBatch({}, jsonRecords(total, 100)).subarray(61);
  const frame = compress('lz4', content);
  const block = snappyjs.compress(content);
  const calls = Math.max(3, Math.ceil(3_000_000 / content.length));
  row(
    `${content.length} bytes`,
    ...[() => lz4.decompressFrameSync(frame), () => snappyjs.uncompress(block), () => snappy.uncompressSync(block)].map((run) =>
      throughput(
        content.length,
        nanoseconds(calls, () => {
          sink += run().length;
        }),
      ),
    ),
  );
}
if (sink === 0) console.log('nothing was done');
