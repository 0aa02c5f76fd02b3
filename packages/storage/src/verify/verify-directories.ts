// Walks log directories that no broker is using, a copy or those of a broker that has stopped, and reports what does not hold in them.
//
// It reads every byte, and does not give way to other work: it is for tools and tests, not for a running broker.

import { DirectoryInUseError, type DirectoryLock, type FileSystem } from '@odradek/runtime';
import { DamagedCheckpointError, readOffsets } from '../log/checkpoint-file.ts';
import { partitionMetadataFile } from '../log/log-file-names.ts';
import { parseTopicPartition, topicPartitionKey } from '../log/topic-partition.ts';
import { isLogFolder } from '../manager/found-partitions.ts';
import { type CheckpointName, checkpointFiles, cleanShutdownFile } from '../manager/log-directory.ts';
import type { Finding, Report } from './findings.ts';
import { type DirectoryOwner, readDirectoryOwner } from './meta-properties.ts';
import { verifyLog } from './verify-log.ts';

export interface VerifyOptions {
  readonly fileSystem: FileSystem;
  readonly directories: readonly string[];
  /** Only the logs of these; all where left out. */
  readonly topics?: ReadonlySet<string>;
  /** Topics in whose logs there may be gaps. Those that a cleaner has checkpoints of, and Kafka's own, are known without it. */
  readonly compactedTopics?: ReadonlySet<string> | 'all';
  /** Each as it is found. */
  readonly onFinding?: (finding: Finding) => void;
}

export interface VerifyReport {
  readonly logs: number;
  readonly segments: number;
  readonly batches: number;
  readonly findings: readonly Finding[];
}

/** Throws DirectoryInUseError, or ENOENT where a directory is not there. */
export function verifyLogDirectories(options: VerifyOptions): VerifyReport {
  const { fileSystem, directories } = options;
  const locks = directories.map((path) => lockIfThere(fileSystem, path));
  try {
    return new Verification(options).run();
  } finally {
    for (const lock of locks) lock?.release();
  }
}

/** A copy need not have the file; nothing is made in it then. On a volume that cannot be written to nobody holds it. */
function lockIfThere(fileSystem: FileSystem, path: string): DirectoryLock | undefined {
  if (fileSystem.statSync(`${path}/.lock`) === undefined) return undefined;
  try {
    return fileSystem.lockDirectorySync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^(EROFS|EACCES|EPERM)$/.test(String(error.code))) return undefined;
    if (error instanceof DirectoryInUseError) throw error;
    throw new DirectoryInUseError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The folder of a log, or of one that moves here. */
interface FoundLog {
  readonly directory: CheckedDirectory;
  readonly path: string;
  readonly key: string;
  readonly topic: string;
  readonly isFuture: boolean;
}

interface CheckedDirectory {
  readonly path: string;
  readonly isClean: boolean;
  readonly owner: DirectoryOwner | undefined;
  readonly checkpoints: Readonly<Record<CheckpointName, ReadonlyMap<string, number>>>;
}

/** Folders that are no partition's log, though their names begin like one. */
const setAsideFolder = /^(.+)\.[0-9a-f]{32}-(delete|future|stray)$/;
/** The log of Kafka's own controller is none of a broker's partitions. */
const controllerTopic = '__cluster_metadata';
const compactedByNature = new Set(['__consumer_offsets', '__transaction_state', '__share_group_state']);

class Verification {
  readonly #options: VerifyOptions;
  readonly #fileSystem: FileSystem;
  readonly #findings: Finding[] = [];
  readonly #topicIds = new Map<string, { readonly id: string; readonly path: string }>();
  #logs = 0;
  #segments = 0;
  #batches = 0;

  constructor(options: VerifyOptions) {
    this.#options = options;
    this.#fileSystem = options.fileSystem;
  }

  run(): VerifyReport {
    // One that is not there has nothing against it.
    for (const path of this.#options.directories) this.#fileSystem.listSync(path);
    const directories = this.#options.directories.map((path) => this.#readDirectory(path));
    this.#compareOwners(directories);
    const logs = directories.flatMap((directory) => this.#findLogs(directory));
    this.#compareLogs(logs);
    for (const directory of directories) this.#findOrphans(directory, logs);
    const compacted = this.#compactedTopics(directories);
    const mayHaveGaps = (topic: string): boolean => this.#options.compactedTopics === 'all' || compacted.has(topic);
    for (const log of logs) this.#orUnreadable(log.path, () => this.#verify(log, mayHaveGaps(log.topic)));
    return { logs: this.#logs, segments: this.#segments, batches: this.#batches, findings: this.#findings };
  }

  readonly #report: Report = (rule, path, position, detail, isMended) => {
    const finding = { rule, path, position, detail, isMended };
    this.#findings.push(finding);
    this.#options.onFinding?.(finding);
  };

  /** One file that cannot be read must not hide what is wrong with the others. */
  #orUnreadable<T>(path: string, look: () => T): T | undefined {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
      const where = 'path' in error ? String(error.path) : path;
      this.#report('unreadable', where, undefined, error.message, false);
      return undefined;
    }
  }

  // Directories

  #readDirectory(path: string): CheckedDirectory {
    const isClean = this.#fileSystem.statSync(`${path}/${cleanShutdownFile}`) !== undefined;
    const owner = this.#orUnreadable(path, () => readDirectoryOwner(this.#fileSystem, path, this.#report));
    const read = (name: CheckpointName): ReadonlyMap<string, number> => this.#readCheckpoint(path, name);
    const checkpoints = {
      recoveryPoint: read('recoveryPoint'),
      highWatermark: read('highWatermark'),
      logStartOffset: read('logStartOffset'),
      cleanedOffset: read('cleanedOffset'),
    };
    return { path, isClean, owner, checkpoints };
  }

  #readCheckpoint(directory: string, name: CheckpointName): ReadonlyMap<string, number> {
    const path = `${directory}/${checkpointFiles[name]}`;
    const offsets = this.#orUnreadable(path, () => {
      try {
        return readOffsets(this.#fileSystem, path);
      } catch (error) {
        if (!(error instanceof DamagedCheckpointError)) throw error;
        this.#report('checkpoint-damaged', path, undefined, error.message, false);
        return undefined;
      }
    });
    return offsets ?? new Map();
  }

  #compareOwners(directories: readonly CheckedDirectory[]): void {
    const [first, ...others] = directories.filter(({ owner }) => owner !== undefined);
    const ids = new Map<string, string>();
    for (const { path, owner } of directories) {
      if (owner?.directoryId === undefined) continue;
      const same = ids.get(owner.directoryId);
      if (same !== undefined) this.#report('meta-properties', owner.path, undefined, `has the directory.id of ${same}`, false);
      ids.set(owner.directoryId, path);
    }
    for (const { owner } of others) {
      for (const field of ['brokerId', 'clusterId'] as const) {
        const [mine, theirs] = [owner?.[field], first?.owner?.[field]];
        if (owner === undefined || mine === undefined || theirs === undefined || mine === theirs) continue;
        const words = `is of ${field === 'brokerId' ? 'broker' : 'cluster'} ${mine}, but ${first?.path} of ${theirs}`;
        this.#report('meta-properties', owner.path, undefined, words, false);
      }
    }
  }

  #findLogs(directory: CheckedDirectory): FoundLog[] {
    const logs: FoundLog[] = [];
    for (const name of this.#fileSystem.listSync(directory.path)) {
      const path = `${directory.path}/${name}`;
      const [, stem, aside] = setAsideFolder.exec(name) ?? [];
      const topicPartition = parseTopicPartition(stem ?? name);
      if (topicPartition?.topic === controllerTopic || this.#fileSystem.statSync(path)?.isDirectory !== true) continue;
      if (topicPartition !== undefined && this.#options.topics?.has(topicPartition.topic) === false) continue;
      if (aside !== undefined) this.#report('leftover', path, undefined, ...(asideWords[aside] ?? ['', false]));
      if (topicPartition === undefined || (aside !== undefined && aside !== 'future')) continue;
      // Somebody's own, which only has a name like a log's.
      if (!isLogFolder(this.#fileSystem, path)) continue;
      const key = topicPartitionKey(topicPartition);
      logs.push({ directory, path, key, topic: topicPartition.topic, isFuture: aside === 'future' });
    }
    return logs;
  }

  #compareLogs(logs: readonly FoundLog[]): void {
    const paths = new Map<string, string>();
    for (const { key, path, isFuture } of logs) {
      const name = `${key}${isFuture ? ' future' : ''}`;
      const other = paths.get(name);
      // A crash may leave both when a log moves from one directory to another. A start puts one of them aside; Kafka's refuses.
      if (other !== undefined) this.#report('duplicate-log', path, undefined, `${other} holds the same partition`, true);
      paths.set(name, path);
    }
  }

  #findOrphans({ path, checkpoints, isClean }: CheckedDirectory, logs: readonly FoundLog[]): void {
    if (this.#options.topics !== undefined) return;
    const keys = new Set(logs.filter(({ directory }) => directory.path === path).map(({ key }) => key));
    for (const name of Object.keys(checkpointFiles) as CheckpointName[]) {
      for (const key of checkpoints[name].keys()) {
        if (keys.has(key)) continue;
        this.#report(
          'checkpoint-orphan',
          `${path}/${checkpointFiles[name]}`,
          undefined,
          `names ${key}, which is not there`,
          !isClean,
        );
      }
    }
  }

  #compactedTopics(directories: readonly CheckedDirectory[]): ReadonlySet<string> {
    const cleaned = directories.flatMap(({ checkpoints }) => [...checkpoints.cleanedOffset.keys()]);
    const topics = cleaned.flatMap((key) => parseTopicPartition(key)?.topic ?? []);
    const { compactedTopics = [] } = this.#options;
    return new Set([...topics, ...compactedByNature, ...(compactedTopics === 'all' ? [] : compactedTopics)]);
  }

  // Logs

  #verify({ directory, path, key, topic }: FoundLog, mayHaveGaps: boolean): void {
    const { isClean, checkpoints } = directory;
    const { recoveryPoint, logStartOffset } = checkpoints;
    this.#checkTopicId(path, topic, isClean);
    const log = {
      path,
      isClean,
      mayHaveGaps,
      recoveryPoint: recoveryPoint.get(key) ?? 0,
      logStartOffset: logStartOffset.get(key) ?? 0,
      cleanedOffset: checkpoints.cleanedOffset.get(key) ?? -1,
    };
    const verified = verifyLog(this.#fileSystem, log, this.#report);
    this.#logs += 1;
    this.#segments += verified.segments;
    this.#batches += verified.batches;
    const startOffset = Math.max(verified.firstOffset, log.logStartOffset);
    const bounds: Readonly<Record<CheckpointName, readonly [least: number, most: number, rule: Finding['rule']]>> = {
      recoveryPoint: [0, verified.endOffset, 'recovery-point'],
      highWatermark: [startOffset, verified.endOffset, 'high-watermark'],
      logStartOffset: [0, verified.endOffset, 'log-start-offset'],
      // As in Kafka a cleaner that finds its checkpoint overtaken by the log start goes on from there, within the active segment too.
      cleanedOffset: [0, Math.max(verified.activeBaseOffset, startOffset), 'cleaner-offset'],
    };
    for (const name of Object.keys(bounds) as CheckpointName[]) {
      const offset = checkpoints[name].get(key);
      const [least, most, rule] = bounds[name];
      if (offset === undefined || (offset >= least && offset <= most)) continue;
      const words = `${offset} for ${key}, which goes from ${startOffset} to ${verified.endOffset}`;
      // After a crash the end may lie before what a checkpoint says: the log was cut off, and the new checkpoint did not get that far.
      this.#report(rule, `${directory.path}/${checkpointFiles[name]}`, undefined, words, !isClean);
    }
  }

  #checkTopicId(folder: string, topic: string, isClean: boolean): void {
    const path = `${folder}/${partitionMetadataFile}`;
    if (this.#fileSystem.statSync(path) === undefined) return;
    const text = this.#fileSystem.readFileSync(path).toString('utf8');
    const id = /^version: 0\s+topic_id: ([\w-]{22})\s*$/.exec(text)?.[1];
    if (id === undefined) {
      // It is not forced to the device: a crash may leave it unfinished.
      this.#report('partition-metadata', path, undefined, 'has no version 0 and topic id', !isClean);
      return;
    }
    const other = this.#topicIds.get(topic);
    if (other === undefined) this.#topicIds.set(topic, { id, path });
    else if (other.id !== id) {
      this.#report('partition-metadata', path, undefined, `names the topic ${id}, but ${other.path} ${other.id}`, false);
    }
  }
}

const asideWords: Readonly<Record<string, readonly [detail: string, isMended: boolean]>> = {
  delete: ['a log that was to be removed', true],
  future: ['a log that was moving here', true],
  stray: ['a log that no topic claims', false],
};
