// The partition log alone: what appends, reads, and many logs cost. Prints a table for each.
//
//   npm run bench -- append [appends|reads|logs|NUMBER…]     NUMBER of logs; default everything, with 1,000 and 10,000 logs
//
// An append is validated (checksum, records), stamped and staged; the writes of one turn go down together. "In a turn" is how many
// batches arrive before the event loop turns, over how many partitions.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRecordBatch } from '@odradek/protocol';
import { createSystemWorld, type World } from '@odradek/runtime';
import { defaultLogConfig, LogManager, type PartitionLog } from '@odradek/storage';

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const isWanted = (part: string): boolean => wanted.length === 0 || wanted.includes(part);
const config = { ...defaultLogConfig };
const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';

function row(...cells: readonly (string | number)[]): void {
  console.log(cells.map((cell, index) => (index === 0 ? String(cell).padEnd(46) : String(cell).padStart(14))).join(''));
}

async function withManager<T>(directory: string, use: (manager: LogManager, world: World) => Promise<T>): Promise<T> {
  const world = createSystemWorld({ log: { write: () => undefined } });
  const manager = LogManager.open({ world, directories: [directory], topicLogConfig: () => config });
  await manager.load();
  try {
    return await use(manager, world);
  } finally {
    await manager.close();
    world.timer.close();
  }
}

async function inDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'odradek-bench-'));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const logOf = (manager: LogManager, topic: string, partition: number): PartitionLog =>
  manager.getOrCreate({ topic, partition }, { topicId, config });

const cpuUs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return user + system;
};

/** A batch of that size, of records of 100 bytes or of 1 KiB. */
function batchOf(sizeBytes: number, recordBytes: number, isIdempotent: boolean): Buffer {
  const count = Math.max(1, Math.floor((sizeBytes - 61) / (recordBytes + 7)));
  const records = Array.from({ length: count }, (_, index) => ({
    timestamp: Date.now() + index,
    value: Buffer.alloc(Math.min(recordBytes, sizeBytes - 70), 97 + (index % 26)),
  }));
  return buildRecordBatch(isIdempotent ? { producerId: 1, producerEpoch: 0, baseSequence: 0 } : {}, records);
}

interface AppendCase {
  readonly what: string;
  readonly sizeBytes: number;
  readonly recordBytes: number;
  readonly isIdempotent?: boolean;
  readonly partitions: number;
  readonly inTurn: number;
}

const appendCases: readonly AppendCase[] = [
  { what: '100 B', sizeBytes: 170, recordBytes: 100, partitions: 1, inTurn: 1 },
  { what: '100 B', sizeBytes: 170, recordBytes: 100, partitions: 1, inTurn: 16 },
  { what: '100 B, idempotent', sizeBytes: 170, recordBytes: 100, isIdempotent: true, partitions: 1, inTurn: 16 },
  { what: '100 B', sizeBytes: 170, recordBytes: 100, partitions: 100, inTurn: 100 },
  { what: '1 KiB', sizeBytes: 1100, recordBytes: 1024, partitions: 1, inTurn: 1 },
  { what: '1 KiB', sizeBytes: 1100, recordBytes: 1024, partitions: 1, inTurn: 16 },
  { what: '16 KiB of 100 B', sizeBytes: 16_384, recordBytes: 100, partitions: 1, inTurn: 4 },
  { what: '64 KiB of 100 B', sizeBytes: 65_536, recordBytes: 100, partitions: 1, inTurn: 4 },
  { what: '64 KiB of 1 KiB', sizeBytes: 65_536, recordBytes: 1024, partitions: 1, inTurn: 4 },
  { what: '64 KiB of 1 KiB', sizeBytes: 65_536, recordBytes: 1024, partitions: 12, inTurn: 12 },
];

async function benchAppends(): Promise<void> {
  row('appends', 'in a turn', 'partitions', 'appends/s', 'CPU us each', 'CPU us/record');
  for (const { what, sizeBytes, recordBytes, isIdempotent = false, partitions, inTurn } of appendCases) {
    await inDirectory((directory) =>
      withManager(directory, async (manager) => {
        const logs = Array.from({ length: partitions }, (_, partition) => logOf(manager, 'append', partition));
        const made = batchOf(sizeBytes, recordBytes, isIdempotent);
        const records = made.readInt32BE(57);
        const sequences = new Array<number>(partitions).fill(0);
        const run = async (appends: number): Promise<void> => {
          for (let done = 0; done < appends; ) {
            const turn: Promise<void>[] = [];
            for (let index = 0; index < inTurn; index++, done++) {
              const partition = index % partitions;
              // As from the wire: the base offset is 0, and the sequences go on.
              const batch = Buffer.from(made);
              if (isIdempotent) stampSequence(batch, (sequences[partition]! += records) - records);
              turn.push(logs[partition]!.appendAsLeader(batch, { leaderEpoch: 0, origin: 'client' }).written);
            }
            await Promise.all(turn);
          }
        };
        await run(3000);
        const appends = Math.min(60_000, Math.floor(400_000_000 / sizeBytes));
        const start = performance.now();
        const cpu = process.cpuUsage();
        await run(appends);
        const us = cpuUs(cpu) / appends;
        const rate = appends / ((performance.now() - start) / 1000);
        row(`  ${what}`, inTurn, partitions, rate.toFixed(0), us.toFixed(2), (us / records).toFixed(3));
      }),
    );
  }
}

const crc32cTable = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** Small batches only: a checksum by the byte. */
function stampSequence(batch: Buffer, sequence: number): void {
  batch.writeInt32BE(sequence, 53);
  let crc = -1;
  for (let position = 21; position < batch.length; position++) crc = crc32cTable[(crc ^ batch[position]!) & 0xff]! ^ (crc >>> 8);
  batch.writeUInt32BE(~crc >>> 0, 17);
}

async function benchReads(): Promise<void> {
  row('reads, 1 MiB at most', '', 'reads/s', 'MB/s', 'CPU us each', 'CPU s/GB');
  await inDirectory((directory) =>
    withManager(directory, async (manager) => {
      const log = logOf(manager, 'read', 0);
      const made = batchOf(65_536, 1024, false);
      for (let index = 0; index < 4000; index++) {
        await log.appendAsLeader(Buffer.from(made), { leaderEpoch: 0, origin: 'client' }).written;
      }
      log.updateHighWatermark(log.logEndOffset);
      await measureReads('  from the page cache, in order', log, log.logStartOffset, 1024 * 1024);
      await measureReads('  from the page cache, 64 KiB at a time', log, log.logStartOffset, 65_536 + 100);
    }),
  );
  await inDirectory((directory) =>
    withManager(directory, async (manager) => {
      const log = logOf(manager, 'tail', 0);
      const made = batchOf(65_536, 1024, false);
      let offset = 0;
      let bytes = 0;
      let reads = 0;
      let cpu = process.cpuUsage();
      let readUs = 0;
      for (let index = 0; index < 4000; index++) {
        await log.appendAsLeader(Buffer.from(made), { leaderEpoch: 0, origin: 'client' }).written;
        log.updateHighWatermark(log.logEndOffset);
        cpu = process.cpuUsage();
        const read = await log.read(offset, { maxBytes: 1024 * 1024, isolation: 'highWatermark', minOneBatch: true });
        offset = log.highWatermark;
        bytes += read.sizeBytes;
        reads += 1;
        read.release?.();
        readUs += cpuUs(cpu);
      }
      row(
        '  from the tail, by a reader that keeps up',
        '',
        '',
        '',
        (readUs / reads).toFixed(1),
        (readUs / bytes / 0.001).toFixed(3),
      );
    }),
  );
}

async function measureReads(what: string, log: PartitionLog, from: number, maxBytes: number): Promise<void> {
  for (const isWarm of [false, true]) {
    const start = performance.now();
    const cpu = process.cpuUsage();
    let reads = 0;
    let bytes = 0;
    for (let offset = from; offset < log.highWatermark; reads++) {
      const read = await log.read(offset, { maxBytes, isolation: 'highWatermark', minOneBatch: true });
      bytes += read.sizeBytes;
      offset = lastOffsetOf(read.records.at(-1)!) + 1;
      read.release?.();
    }
    const seconds = (performance.now() - start) / 1000;
    const us = cpuUs(cpu);
    const name = isWarm ? what : `${what} (first)`;
    row(
      name,
      '',
      (reads / seconds).toFixed(0),
      (bytes / seconds / 1e6).toFixed(0),
      (us / reads).toFixed(1),
      (us / bytes / 0.001).toFixed(3),
    );
  }
}

function lastOffsetOf(records: Buffer): number {
  let last = -1;
  for (let at = 0; at + 61 <= records.length; at += records.readInt32BE(at + 8) + 12) {
    last = Number(records.readBigInt64BE(at)) + records.readInt32BE(at + 23);
  }
  return last;
}

async function benchLogs(count: number): Promise<void> {
  row(`${count} logs`, 'ms', 'us each', 'KiB each');
  const made = batchOf(1100, 1024, true);
  await inDirectory(async (directory) => {
    let start = performance.now();
    const lap = (what: string, kib = ''): void => {
      const ms = performance.now() - start;
      row(`  ${what}`, ms.toFixed(0), ((ms * 1000) / count).toFixed(0), kib);
      start = performance.now();
    };
    const before = memoryKib();
    await withManager(directory, async (manager) => {
      start = performance.now();
      for (let partition = 0; partition < count; partition++) logOf(manager, 'many', partition);
      lap('made', ((memoryKib() - before) / count).toFixed(1));
      for (let partition = 0; partition < count; ) {
        const turn: Promise<void>[] = [];
        for (let index = 0; index < 100 && partition < count; index++, partition++) {
          const log = logOf(manager, 'many', partition);
          turn.push(log.appendAsLeader(Buffer.from(made), { leaderEpoch: 0, origin: 'client' }).written);
        }
        await Promise.all(turn);
      }
      lap('first append to each', ((memoryKib() - before) / count).toFixed(1));
      start = performance.now();
    });
    lap('closed in order');
    await withManager(directory, async () => lap('opened after a clean stop', ((memoryKib() - before) / count).toFixed(1)));
    start = performance.now();
    await withManager(directory, async () => {
      lap('opened and closed again, unchanged');
    });
  });
}

/** What is in use after a collection, on the heap and beside it. `--expose-gc` makes it exact. */
function memoryKib(): number {
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return (heapUsed + external + arrayBuffers) / 1024;
}

if (isWanted('appends')) await benchAppends();
if (isWanted('reads')) await benchReads();
const counts = wanted.filter((argument) => /^\d+$/.test(argument)).map(Number);
if (isWanted('logs')) counts.push(1000, 10_000);
for (const count of counts) await benchLogs(count);
