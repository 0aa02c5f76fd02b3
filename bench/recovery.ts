// How long a log takes to open after its process was killed: by its size, and by what was not on the device. Prints one table.
//
//   npm run bench -- recovery [--sizes=1,10,50] [--tails=16,128,512]      GB, and MB
//
// A process of its own fills the log, flushes it, begins a new segment, appends the tail, and kills itself. The part that a start
// trusts lies on a disk that keeps only headers (sparse-files.ts); the tail is written whole, since its checksums are looked at.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { batchOf, cpuUsSince, ensureRoom, fill, gigabyte, head, openLogs, row } from './storage/bench-log.ts';
import { SparseFiles } from './storage/sparse-files.ts';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1,10,50' },
    tails: { type: 'string', default: '16,128,512' },
    /** In the process that is killed: the folder, the bytes to fill it to, and those of the tail. */
    die: { type: 'string' },
  },
});
const numbers = (text: string): number[] => text.split(',').map(Number);

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

function killed(directory: string, sizeBytes: number, tailBytes: number): void {
  const arguments_ = [...process.execArgv, import.meta.filename, '--die', [directory, sizeBytes, tailBytes].join(',')];
  const { signal, stderr } = spawnSync(process.execPath, arguments_, { encoding: 'utf8' });
  if (signal !== 'SIGKILL') throw new Error(`The process was not killed: ${stderr}`);
}

async function measure(sizeGb: number, tails: readonly number[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'odradek-recovery-'));
  try {
    ensureRoom(directory, (sizeGb * gigabyte) / 15 + tails.reduce((sum, tail) => sum + tail * 1e6, 0));
    let sizeBytes = sizeGb * gigabyte;
    for (const tail of tails) {
      killed(directory, sizeBytes, tail * 1e6);
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

if (values.die !== undefined) await fillAndDie(values.die.split(','));
else {
  head('log, GB', 'dirty tail, MB', 'scanned, MB', 'cut off, bytes', 'opened in, ms', 'CPU, ms');
  for (const size of numbers(values.sizes)) await measure(size, numbers(values.tails));
}
