// Whether a log becomes slower as it grows: appends to a small and to a large log, and reads from everywhere in both. Prints two tables.
//
//   npm run bench -- log-size [append|read] [--small=1] [--large=50] [--pairs=1000] [--rounds=200]      GB
//
// The logs are filled through the log itself, in batches of 64 KiB, but on a disk that keeps only their headers (sparse-files.ts), so
// 50 GB take 3.7 GB. What is measured is appended and read on the disk as it is.
//
// What counts is a ratio: short slices of the same work, on the small and on the large log in turn, so that whatever else the machine
// does meets both; each pair gives one ratio, and the median of a thousand of them does not move by luck. The interval beside it
// holds the true median with a confidence of 95 %. CPU is that of the whole process; between two pairs everything is forced to the device, so that
// writing back falls into no slice.
//
// Reads are measured in two states of the page cache. First: everything was dropped from it, so the kernel finds and clears pages; what
// lies at a place has no part in that but its extents. Again: the same offsets once more, with their pages and those of the
// indexes in memory, for the small log and for each place in the large one.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SeededRandom } from '@odradek/runtime';
import type { PartitionLog } from '@odradek/storage';
import {
  batchOf,
  cpuUsSince,
  ensureRoom,
  fill,
  gigabyte,
  head,
  median,
  medianInterval,
  openLogs,
  row,
} from './storage/bench-log.ts';
import { SparseFiles } from './storage/sparse-files.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: 'string', default: '1' },
    large: { type: 'string', default: '50' },
    pairs: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '200' },
  },
});
const isWanted = (part: string): boolean => positionals.length === 0 || positionals.includes(part);
const sizes = { small: Number(values.small), large: Number(values.large) };
const pairs = Number(values.pairs);
const rounds = Number(values.rounds);
const warmUp = 50;
const turnsPerSlice = 10;
const appendsPerTurn = 4;
const readsPerSlice = 40;
/** After so many rounds the page cache is emptied, and those that follow it until the next time read what is in memory. */
const roundsPerDrop = 10;
const recordsPerBatch = 15;
const random = new SeededRandom(1);

interface Cost {
  readonly cpuUs: number;
  readonly wallUs: number;
}

/** The costs of the same work in the same rounds, by what it was done to. */
class Comparison {
  readonly #costs = new Map<string, Cost[]>();

  async measure(what: string, count: number, work: () => Promise<void>): Promise<void> {
    const start = performance.now();
    const cpu = process.cpuUsage();
    await work();
    const cost = { cpuUs: cpuUsSince(cpu) / count, wallUs: ((performance.now() - start) * 1000) / count };
    this.#costs.set(what, [...this.#of(what), cost]);
  }

  clear(): void {
    this.#costs.clear();
  }

  #of(what: string): readonly Cost[] {
    return this.#costs.get(what) ?? [];
  }

  /** Beside the costs of `standard`, pair by pair. */
  cells(what: string, standard: string): string[] {
    const [costs, others] = [this.#of(what), this.#of(standard)];
    const ratios = (of: keyof Cost): string => {
      const each = costs.map((cost, index) => cost[of] / others[index]![of]);
      const [low, high] = medianInterval(each).map((bound) => bound.toFixed(3));
      return `${median(each).toFixed(3)} (${low} to ${high})`;
    };
    const medians = (['cpuUs', 'wallUs'] as const).map((of) => median(costs.map((cost) => cost[of])).toFixed(1));
    return what === standard ? [...medians, '', ''] : [...medians, ratios('cpuUs'), ratios('wallUs')];
  }
}

// Appends

async function append(log: PartitionLog, batch: Buffer): Promise<void> {
  for (let turn = 0; turn < turnsPerSlice; turn++) {
    let written: Promise<void> | undefined;
    for (let count = 0; count < appendsPerTurn; count++) {
      written = log.appendAsLeader(Buffer.from(batch), { leaderEpoch: 0, origin: 'client' }).written;
    }
    await written;
  }
}

async function benchAppends(logs: Logs): Promise<void> {
  const batch = batchOf(recordsPerBatch);
  const comparison = new Comparison();
  const records = turnsPerSlice * appendsPerTurn * recordsPerBatch;
  for (let pair = -warmUp; pair < pairs; pair++) {
    if (pair === 0) comparison.clear();
    // Whoever comes second meets what the first has left to the processor's caches.
    const order = pair % 2 === 0 ? (['small', 'large'] as const) : (['large', 'small'] as const);
    for (const name of order) await comparison.measure(name, records, () => append(logs[name], batch));
    await Promise.all([logs.small.flush(), logs.large.flush()]);
  }
  head('append to', 'CPU us/record', 'wall us/record', 'CPU, pair by pair', 'wall, pair by pair');
  for (const name of ['small', 'large'] as const) row(`${sizes[name]} GB`, ...comparison.cells(name, 'small'));
}

// Reads

interface Place {
  readonly name: string;
  readonly log: PartitionLog;
  /** The part of the log from which offsets are drawn. */
  readonly from: number;
  readonly to: number;
}

function offsetsAt({ log, from, to }: Place): number[] {
  const { logStartOffset, logEndOffset } = log;
  const span = logEndOffset - logStartOffset;
  return Array.from({ length: readsPerSlice }, () => logStartOffset + Math.floor(span * (from + random.next() * (to - from))));
}

async function read(log: PartitionLog, offsets: readonly number[]): Promise<void> {
  for (const offset of offsets) {
    const found = await log.read(offset, { maxBytes: 65_536, isolation: 'logEnd', minOneBatch: true });
    if (found.sizeBytes === 0) throw new Error(`Nothing was found at ${offset}`);
    found.release?.();
  }
}

/** Takes the files of the logs, which must be on the device, out of the page cache. */
function dropCache(logs: Logs): void {
  for (const { path } of [logs.small, logs.large]) {
    for (const name of readdirSync(path)) {
      const { status } = spawnSync('dd', [`if=${join(path, name)}`, 'iflag=nocache', 'count=0', 'status=none']);
      if (status !== 0) throw new Error(`${name} could not be taken out of the page cache`);
    }
  }
}

async function benchReads(logs: Logs): Promise<void> {
  const small: Place = { name: `${sizes.small} GB, anywhere`, log: logs.small, from: 0, to: 0.9 };
  const large = [0, 0.2, 0.4, 0.6, 0.8].map((from) => {
    return { name: `${sizes.large} GB at ${from * 100} %`, log: logs.large, from, to: from + 0.1 };
  });
  const places: readonly Place[] = [small, ...large];
  const [first, again] = [new Comparison(), new Comparison()];
  await Promise.all([logs.small.flush(), logs.large.flush()]);
  for (let round = -roundsPerDrop; round < rounds; round++) {
    if (round === 0) again.clear();
    const isDropped = round % roundsPerDrop === 0;
    if (isDropped) dropCache(logs);
    for (let index = 0; index < places.length; index++) {
      const place = places[(index + round + places.length * roundsPerDrop) % places.length]!;
      const offsets = offsetsAt(place);
      const readAll = (): Promise<void> => read(place.log, offsets);
      if (isDropped && round > 0) await first.measure(place.name, readsPerSlice, readAll);
      else await readAll();
      await again.measure(place.name, readsPerSlice, readAll);
    }
  }
  for (const [words, comparison] of [
    ['first', first],
    ['again', again],
  ] as const) {
    head(`read of 64 KiB, ${words}`, 'CPU us', 'wall us', 'CPU, round by round', 'wall, round by round');
    for (const { name } of places) row(name, ...comparison.cells(name, small.name));
  }
}

interface Logs {
  readonly small: PartitionLog;
  readonly large: PartitionLog;
}

const directory = mkdtempSync(join(tmpdir(), 'odradek-log-size-'));
try {
  const appendedBytes = (pairs + warmUp) * turnsPerSlice * appendsPerTurn * recordsPerBatch * 2200;
  ensureRoom(directory, ((sizes.small + sizes.large) * gigabyte) / 13 + appendedBytes);
  const sparse = new SparseFiles();
  const filled = await openLogs(directory, { fileSystem: sparse.fileSystem });
  await fill(filled.log('small'), sizes.small * gigabyte, batchOf(62));
  await fill(filled.log('large'), sizes.large * gigabyte, batchOf(62));
  await filled.close();

  const { log, manager, close } = await openLogs(directory);
  const logs = { small: log('small'), large: log('large') };
  console.log(`${logs.small.segments.count} segments in the small log, ${logs.large.segments.count} in the large one`);
  // Before anything is appended: what is appended is no hole.
  if (isWanted('read')) await benchReads(logs);
  if (isWanted('append')) await benchAppends(logs);
  await manager.checkpoint();
  await close();
} finally {
  rmSync(directory, { recursive: true });
}
