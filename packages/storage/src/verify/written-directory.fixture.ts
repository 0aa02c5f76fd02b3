// A log directory as an orderly stop leaves it, kept as bytes: each test gets a disk of its own with it, and damages that.

import { buildControlBatch, buildRecordBatch, crc32c, iterateBatches, type RecordBatch } from '@odradek/protocol';
import { SimulatedDisk, SimulatedWorld } from '@odradek/testing';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from '../manager/log-manager.ts';
import type { Finding, VerificationRule } from './findings.ts';
import { verifyLogDirectories } from './verify-directories.ts';

export const directory = '/data';
/** `many` has segments, epochs and transactions, `few` one segment; both are of one topic. */
export const many = `${directory}/orders-0`;
export const few = `${directory}/orders-1`;
/** The paths of three of the segments of `many`, without their endings. */
export const first = `${many}/00000000000000000000`;
export const second = `${many}/00000000000000000019`;
export const last = `${many}/00000000000000000055`;
export const recoveryPoints = `${directory}/recovery-point-offset-checkpoint`;
export const highWatermarks = `${directory}/replication-offset-checkpoint`;
export const startOffsets = `${directory}/log-start-offset-checkpoint`;
export const cleanedOffsets = `${directory}/cleaner-offset-checkpoint`;

const config: LogConfig = { ...defaultLogConfig, segmentBytes: 900, indexIntervalBytes: 150, producerIdExpirationMs: 1e15 };
const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';

type Files = ReadonlyMap<string, Buffer>;

export async function writeDirectory(): Promise<Files> {
  const world = new SimulatedWorld({ seed: 1 });
  const machine = world.machine('broker');
  const manager = LogManager.open({ world: machine, directories: [directory], topicLogConfig: () => config });
  manager.claim(1, 'S2Fma2FHb2xkZW5GYWN0cw');
  await world.run(manager.load());
  const logOf = (partition: number): PartitionLog => manager.getOrCreate({ topic: 'orders', partition }, { topicId, config });
  await fill(logOf(0), world, 40);
  await fill(logOf(1), world, 4);
  const log = logOf(0);
  log.updateHighWatermark(log.logEndOffset);
  log.deleteRecordsBefore(2);
  await world.run(manager.close());
  return filesUnder(machine.fileSystem, directory);
}

/** Two producers: one in transactions, of which every other is aborted and the last stays open; the epoch rises on the way. */
async function fill(log: PartitionLog, world: SimulatedWorld, steps: number): Promise<void> {
  const firstTimestamp = world.clock.wallTimeMs();
  const sequences = [0, 0];
  let isOpen = false;
  for (let step = 0; step < steps; step++) {
    const leaderEpoch = step < steps / 2 ? 1 : 4;
    log.assignLeaderEpoch(leaderEpoch, log.logEndOffset);
    const timestamp = firstTimestamp + step * 10 - (step % 3) * 25;
    const which = step % 2;
    const producer = { producerId: 70 + which, producerEpoch: which };
    let sent: { readonly bytes: Buffer; readonly origin: 'client' | 'coordinator' };
    if (isOpen && step % 6 === 5) {
      const type = step % 12 === 5 ? 'abort' : 'commit';
      sent = { bytes: buildControlBatch({ ...producer, type, coordinatorEpoch: 3, timestamp }), origin: 'coordinator' };
      isOpen = false;
    } else {
      const records = [0, 1].map((index) => ({
        timestamp: timestamp - index,
        key: Buffer.from('key'),
        value: Buffer.from(`${step} ${index}`),
      }));
      const baseSequence = sequences[which]!;
      const bytes = buildRecordBatch({ ...producer, baseSequence, isTransactional: which === 1 }, records);
      sent = { bytes, origin: 'client' };
      sequences[which]! += 2;
      if (which === 1) isOpen = true;
    }
    await world.run(log.appendAsLeader(sent.bytes, { leaderEpoch, origin: sent.origin }).written);
  }
}

function filesUnder(disk: SimulatedDisk, path: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const name of disk.listSync(path)) {
    const inside = `${path}/${name}`;
    if (disk.statSync(inside)?.isDirectory === true) for (const [each, bytes] of filesUnder(disk, inside)) files.set(each, bytes);
    else files.set(inside, Buffer.from(disk.readFileSync(inside)));
  }
  return files;
}

/** A disk with the files, to be damaged. */
export class DamagedDirectory {
  readonly disk = new SimulatedDisk();

  constructor(files: Files) {
    for (const [path, bytes] of files) this.put(path, Buffer.from(bytes));
  }

  put(path: string, content: string | Uint8Array): void {
    this.disk.makeDirectorySync(path.slice(0, path.lastIndexOf('/')));
    this.disk.replaceFileSync(path, content);
  }

  read(path: string): Buffer {
    return Buffer.from(this.disk.readFileSync(path));
  }

  /** Answers what is to stand there instead, or changes the bytes. */
  edit(path: string, change: (bytes: Buffer) => Buffer | undefined): void {
    const bytes = this.read(path);
    this.put(path, change(bytes) ?? bytes);
  }

  editText(path: string, from: string | RegExp, to: string): void {
    this.edit(path, (bytes) => Buffer.from(bytes.toString().replace(from, to)));
  }

  remove(path: string): void {
    this.disk.removeSync(path);
  }

  rename(from: string, to: string): void {
    this.disk.renameSync(from, to);
  }

  /** The names with an ending in a folder, in order. */
  names(folder: string, ending: string): string[] {
    return this.disk.listSync(folder).filter((name) => name.endsWith(ending));
  }

  verify(directories: readonly string[] = [directory]): readonly Finding[] {
    return verifyLogDirectories({ fileSystem: this.disk, directories }).findings;
  }
}

/** One way in which the directory can be damaged. */
export interface Planted {
  readonly name: string;
  readonly plant: (damaged: DamagedDirectory) => void;
  /** All that is to be found, in alphabetical order. */
  readonly rules: readonly VerificationRule[];
  /** The file that is to be named, from its end. */
  readonly file: string;
  readonly isMended?: boolean;
}

export function batchesIn(bytes: Buffer): RecordBatch[] {
  return [...iterateBatches(bytes)].map((batch) => batch as RecordBatch);
}

export function positionOfBatch(damaged: DamagedDirectory, path: string, index: number): number {
  return batchesIn(damaged.read(path)).at(index)!.start;
}

export function editBatch(
  damaged: DamagedDirectory,
  path: string,
  index: number,
  change: (batch: RecordBatch) => void,
  withChecksum?: 'with checksum',
): void {
  damaged.edit(path, (bytes) => {
    const batch = batchesIn(bytes).at(index)!;
    const end = batch.end;
    change(batch);
    if (withChecksum !== undefined) bytes.writeUInt32BE(crc32c(bytes, batch.start + 21, end), batch.start + 17);
    return bytes;
  });
}
