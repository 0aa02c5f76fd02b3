// How long a broker's logs take to open after its process was killed. Prints a table for each question:
//
//   npm run bench -- recovery size [--sizes=1,10,50] [--tails=16,128,512]                    GB, and MB
//   npm run bench -- recovery partitions [--partitions=10000] [--written=0,100,1000,10000]
//
// size: one log, by its size, and by what was not on the device. A process of its own fills the log, flushes it, begins a new segment,
// appends the tail, and kills itself. The part that a start trusts lies on a disk that keeps only headers (sparse-files.ts); the
// tail is written whole, since its checksums are looked at.
//
// partitions: many logs of 64 KiB, by how many of them were written to since the last orderly stop: 16 KiB each, before the process
// kills itself.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { PartitionLog } from '@odradek/storage';
import { batchOf, cpuUsSince, ensureRoom, fill, gigabyte, head, openLogs, row } from './storage/bench-log.ts';
import { SparseFiles } from './storage/sparse-files.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    partitions: { type: 'string', default: '10000' },
    written: { type: 'string', default: '0,100,1000,10000' },
    sizes: { type: 'string', default: '1,10,50' },
    tails: { type: 'string', default: '16,128,512' },
    /** In the process that is killed: the folder, then the bytes to fill the log to and those of the tail, or how many logs to write to. */
    die: { type: 'string' },
  },
});
const isWanted = (part: string): boolean => positionals.length === 0 || positionals.includes(part);
const numbers = (text: string): number[] => text.split(',').map(Number);

// One log

async function fillAndDie([directory, size, tail]: readonly string[]): Promise<void> {
  const sparse = new SparseFiles();
  const { log, manager } = await openLogs(directory ?? '', { fileSystem: sparse.fileSystem });
  const filled = log('killed');
  const batch = batchOf(62);
  await fill(filled, Number(size), batch);
  filled.roll();
  await filled.flush();
  await manager.checkpoint();
  sparse.isOn = false;
  await fill(filled, filled.sizeBytes + Number(tail), batch);
  process.kill(process.pid, 'SIGKILL');
}

async function measureSize(sizeGb: number, tails: readonly number[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'odradek-recovery-'));
  try {
    ensureRoom(directory, (sizeGb * gigabyte) / 15 + tails.reduce((sum, tail) => sum + tail * 1e6, 0));
    let sizeBytes = sizeGb * gigabyte;
    for (const tail of tails) {
      killed('size', directory, sizeBytes, tail * 1e6);
      const start = performance.now();
      const cpu = process.cpuUsage();
      const { manager, log, close } = await openLogs(directory);
      const ms = performance.now() - start;
      const cpuMs = cpuUsSince(cpu) / 1000;
      const { scannedBytes, truncatedBytes } = manager.startReport;
      sizeBytes = log('killed').sizeBytes;
      row(sizeGb, tail, (scannedBytes / 1e6).toFixed(0), truncatedBytes, ms.toFixed(0), cpuMs.toFixed(0));
      await close();
      // And once more, now that it was stopped in order.
      const clean = performance.now();
      const again = await openLogs(directory);
      row(sizeGb, 'none', (again.manager.startReport.scannedBytes / 1e6).toFixed(0), 0, (performance.now() - clean).toFixed(0), '');
      await again.close();
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

// Many logs

/** Records of 1 KiB. */
const recordsAtFirst = 64;
const recordsSince = 16;

async function append(log: PartitionLog, records: Buffer): Promise<void> {
  await log.appendAsLeader(Buffer.from(records), { leaderEpoch: 0, origin: 'client' }).written;
}

async function writeAndDie([directory, written]: readonly string[]): Promise<void> {
  const { log } = await openLogs(directory ?? '');
  const batch = batchOf(recordsSince);
  for (let partition = 0; partition < Number(written); partition++) await append(log(`orders-${partition}`), batch);
  process.kill(process.pid, 'SIGKILL');
}

async function measurePartitions(partitions: number, writtenCounts: readonly number[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'odradek-recovery-'));
  try {
    ensureRoom(directory, partitions * 1100 * (recordsAtFirst + 20 + recordsSince * writtenCounts.length));
    const made = await openLogs(directory);
    const batch = batchOf(recordsAtFirst);
    for (let partition = 0; partition < partitions; partition++) await append(made.log(`orders-${partition}`), batch);
    await made.close();
    await openAndReport(directory, partitions, 'stopped in order');
    for (const written of writtenCounts) {
      killed('partitions', directory, written);
      await openAndReport(directory, partitions, written);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function openAndReport(directory: string, partitions: number, written: number | string): Promise<void> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  const { manager, close } = await openLogs(directory);
  const ms = performance.now() - start;
  const cpuMs = cpuUsSince(cpu) / 1000;
  const { logs, scannedSegments, scannedBytes } = manager.startReport;
  if (logs !== partitions) throw new Error(`${logs} logs were opened`);
  row(partitions, written, scannedSegments, (scannedBytes / 1e6).toFixed(1), ms.toFixed(0), cpuMs.toFixed(0));
  await close();
}

function killed(part: 'size' | 'partitions', ...what: readonly (string | number)[]): void {
  const arguments_ = [...process.execArgv, import.meta.filename, part, '--die', what.join(',')];
  const { signal, stderr } = spawnSync(process.execPath, arguments_, { encoding: 'utf8' });
  if (signal !== 'SIGKILL') throw new Error(`The process was not killed: ${stderr}`);
}

if (values.die !== undefined) await (positionals[0] === 'size' ? fillAndDie : writeAndDie)(values.die.split(','));
else {
  if (isWanted('size')) {
    head('log, GB', 'dirty tail, MB', 'scanned, MB', 'cut off, bytes', 'opened in, ms', 'CPU, ms');
    for (const size of numbers(values.sizes)) await measureSize(size, numbers(values.tails));
  }
  if (isWanted('partitions')) {
    head('logs', 'written to since the last stop', 'segments scanned', 'scanned, MB', 'opened in, ms', 'CPU, ms');
    await measurePartitions(Number(values.partitions), numbers(values.written));
  }
}
