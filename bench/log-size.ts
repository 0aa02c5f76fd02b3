// Whether a log becomes slower as it grows: appends to a small and to a large log, turn and turn about, and reads from everywhere
// in the large one. Prints one table.
//
//   npm run bench -- log-size [--small=1] [--large=50] [--rounds=120]      GB
//
// The logs are filled through the log itself, in batches of 64 KiB, but on a disk that keeps only their headers (sparse-files.ts), so
// 50 GB take 3.7 GB. What is measured is appended and read on the disk as it is. Reads of a log that is larger than the memory mostly miss
// the page cache, but never wait for the device, since there is nothing on it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SeededRandom } from '@odradek/runtime';
import type { PartitionLog } from '@odradek/storage';
import { batchOf, cpuUsSince, ensureRoom, fill, gigabyte, head, median, openLogs, row } from './storage/bench-log.ts';
import { SparseFiles } from './storage/sparse-files.ts';

const { values } = parseArgs({
  options: {
    small: { type: 'string', default: '1' },
    large: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '120' },
  },
});
const sizes = { small: Number(values.small), large: Number(values.large) };
const rounds = Number(values.rounds);
// Short slices, many of them: what else the machine does falls into few.
const appendsPerRound = 200;
const readsPerRound = 100;
const recordsPerBatch = 15;
const random = new SeededRandom(1);

interface Cost {
  readonly cpuUs: number[];
  readonly wallUs: number[];
}
const costs = new Map<string, Cost>();

async function measure(what: string, count: number, work: () => Promise<void>): Promise<void> {
  const cost = costs.get(what) ?? { cpuUs: [], wallUs: [] };
  costs.set(what, cost);
  const start = performance.now();
  const cpu = process.cpuUsage();
  await work();
  cost.cpuUs.push(cpuUsSince(cpu) / count);
  cost.wallUs.push(((performance.now() - start) * 1000) / count);
}

async function append(log: PartitionLog, batch: Buffer): Promise<void> {
  for (let done = 0; done < appendsPerRound; done += 4) {
    let written: Promise<void> | undefined;
    for (let index = 0; index < 4; index++) {
      written = log.appendAsLeader(Buffer.from(batch), { leaderEpoch: 0, origin: 'client' }).written;
    }
    await written;
  }
}

/** Records by chance from the tenth of the log that begins there. */
async function read(log: PartitionLog, from: number): Promise<void> {
  const span = log.logEndOffset - log.logStartOffset;
  for (let count = 0; count < readsPerRound; count++) {
    const offset = log.logStartOffset + Math.floor(span * (from + random.next() / 10));
    const found = await log.read(offset, { maxBytes: 65_536, isolation: 'logEnd', minOneBatch: true });
    if (found.sizeBytes === 0) throw new Error(`Nothing was found at ${offset}`);
    found.release?.();
  }
}

function report(what: string, unit: string, count: number): void {
  const { cpuUs, wallUs } = costs.get(what) ?? { cpuUs: [], wallUs: [] };
  row(what, (median(cpuUs) / count).toFixed(2), (median(wallUs) / count).toFixed(2), unit);
}

const tenths = [0, 0.2, 0.4, 0.6, 0.8];
const directory = mkdtempSync(join(tmpdir(), 'odradek-log-size-'));
try {
  ensureRoom(directory, ((sizes.small + sizes.large) * gigabyte) / 15 + rounds * appendsPerRound * recordsPerBatch * 2200);
  const sparse = new SparseFiles();
  const filled = await openLogs(directory, { fileSystem: sparse.fileSystem });
  await fill(filled.log('small'), sizes.small * gigabyte, batchOf(62));
  await fill(filled.log('large'), sizes.large * gigabyte, batchOf(62));
  await filled.close();

  const { log, manager, close } = await openLogs(directory);
  const logs = { small: log('small'), large: log('large') };
  const batch = batchOf(recordsPerBatch);
  // The first rounds warm up; they are not counted.
  for (let round = -20; round < rounds; round++) {
    if (round === 0) costs.clear();
    // Whoever comes second meets what the first has left to the disk.
    for (const name of round % 2 === 0 ? (['small', 'large'] as const) : (['large', 'small'] as const)) {
      await measure(`append to ${sizes[name]} GB`, appendsPerRound, () => append(logs[name], batch));
    }
    for (let place = 0; place < tenths.length; place++) {
      const from = tenths[(round + 20 + place) % tenths.length] ?? 0;
      await measure(`read ${sizes.large} GB at ${from * 100} %`, readsPerRound, () => read(logs.large, from));
    }
    await measure(`read ${sizes.small} GB anywhere`, readsPerRound, () => read(logs.small, random.next() * 0.9));
  }
  console.log(`${logs.large.segments.count} segments in the large log, medians of ${rounds} rounds`);
  head('what', 'CPU us', 'wall us', 'each');
  for (const name of ['small', 'large'] as const) report(`append to ${sizes[name]} GB`, 'record', recordsPerBatch);
  for (const from of tenths) report(`read ${sizes.large} GB at ${from * 100} %`, 'read of 64 KiB', 1);
  report(`read ${sizes.small} GB anywhere`, 'read of 64 KiB', 1);
  const [small, large] = [sizes.small, sizes.large].map((size) => costs.get(`append to ${size} GB`)!);
  const ratio = (of: 'cpuUs' | 'wallUs'): string => (median(large![of]) / median(small![of])).toFixed(3);
  row('append, large by small', ratio('cpuUs'), ratio('wallUs'), '');
  await manager.checkpoint();
  await close();
} finally {
  rmSync(directory, { recursive: true });
}
