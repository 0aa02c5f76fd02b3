// One log on its way into another directory, while it is in use (KIP-113).
//
//   /one/topic-0                  the source: read and written as ever
//   /two/topic-0.<hex>-future     the future log follows it, as a follower follows its leader
//
//   1. It catches up, piece by piece, at the rate that is allowed.
//   2. From now on nobody is told of what the source takes.
//   3. What the source had then is copied, forced to the device, and the future log closed in order.
//   4. In one turn: the folder gets the log's name and is opened, the little that came meanwhile is copied, and the log takes the
//      source's place.
//   5. The new name is forced to the device; only then the source's folder loses its own, and waits for its deletion. When that is on
//      the device, too, those who waited are told.
//
// Whenever a crash comes, the records of which anybody was told are in a folder that has the log's name. A crash in 4 or 5 may leave
// two such folders; the next start keeps the one that has what the other has. A full disk only delays; any other fault of the new directory
// ends the move, and the source goes on.

import { batchSizeAt, errorCodes, ProtocolError } from '@odradek/protocol';
import { isDiskFault, isPassingFault } from '../log/disk-fault.ts';
import type { LogWorld } from '../log/log-files.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import type { LogDirectory } from './log-directory.ts';

/** How much is read and written at once: a copy must not hold up the event loop. */
const pieceBytes = 1024 * 1024;
/** With so little left the end begins. */
const almostThereBytes = 256 * 1024;
/** What may come while the future log is being closed, and is then copied in one turn. */
const maxRestBytes = 8 * 1024 * 1024;
/** After how long what was in the way is looked at again: a cleaning that ends, a disk that has room. */
const retryDelayMs = 1000;

/** What a move needs of whoever keeps the logs. */
export interface MoveHost {
  readonly world: LogWorld;
  isBeingCleaned(log: PartitionLog): boolean;
  /** Opens the log in the folder, which was closed in order or not. */
  reopen(folder: string, directory: LogDirectory, like: PartitionLog, isClean: boolean): PartitionLog;
  /** The source's place is taken. Its folder still has its name. */
  replaced(source: PartitionLog, log: PartitionLog): void;
  /** The folder of the source, which was replaced, is not needed any more. */
  discard(source: PartitionLog): void;
  /** The future log was opened again. */
  futureReopened(future: PartitionLog): void;
  /** The move can never come to its end. */
  gaveUp(source: PartitionLog): void;
}

export interface MoveOptions {
  readonly host: MoveHost;
  readonly source: PartitionLog;
  readonly future: PartitionLog;
  /** The log's name in its directory: topic and partition. */
  readonly name: string;
  /** Settles when so many bytes more may be copied. */
  readonly throttled: (sizeBytes: number) => Promise<void>;
}

/** The source or the future log is not to be used any more, or nobody wants the move. */
class MoveEndedError extends Error {
  override readonly name = 'MoveEndedError';
}

export class LogMove {
  readonly source: PartitionLog;
  readonly directory: LogDirectory;
  readonly #host: MoveHost;
  readonly #name: string;
  readonly #throttled: (sizeBytes: number) => Promise<void>;
  #future: PartitionLog;
  /** Of the source, when the two were compared last; undefined: not yet. */
  #comparedSetbacks: number | undefined;
  #isCancelled = false;
  #endPause: (() => void) | undefined;

  constructor({ host, source, future, name, throttled }: MoveOptions) {
    this.source = source;
    this.directory = future.directory;
    this.#host = host;
    this.#future = future;
    this.#name = name;
    this.#throttled = throttled;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Ends it as soon as possible; what was copied stays where it is. */
  cancel(): void {
    this.#isCancelled = true;
    this.#endPause?.();
  }

  /** Settles when the log has moved, which is answered with true, or when that has become impossible. */
  async run(): Promise<boolean> {
    while (!this.#isCancelled) {
      try {
        this.#ensureGoingOn();
        if (this.#host.isBeingCleaned(this.source)) await this.#pause(retryDelayMs / 10);
        else if (this.#lagBytes() > almostThereBytes) await this.#copyPiece();
        else if (await this.#finish()) return true;
      } catch (error) {
        if (error instanceof MoveEndedError || !this.#canGoOn()) return false;
        if (!(error instanceof ProtocolError) || error.code !== errorCodes.KAFKA_STORAGE_ERROR) throw error;
        // The directories are online, so a disk is full.
        this.#host.world.logger.warn('A log cannot move on for now', { path: this.#future.path, error });
        if (this.#future.isClosed) this.#reopenFuture();
        await this.#pause(retryDelayMs);
      }
    }
    return false;
  }

  #canGoOn(): boolean {
    return !this.#isCancelled && !this.source.isClosed && this.source.directory.isOnline && this.directory.isOnline;
  }

  #ensureGoingOn(): void {
    if (!this.#canGoOn()) throw new MoveEndedError(`${this.#name} does not move on to ${this.directory.path}`);
  }

  /** Roughly: how much the files differ. A compacted log or one of old formats is copied as it is, so they end alike. */
  #lagBytes(): number {
    return this.#future.logEndOffset >= this.source.writtenEndOffset ? 0 : bytesFrom(this.source, this.#future.logEndOffset);
  }

  async #copyPiece(): Promise<void> {
    this.#followSource();
    const { source } = this;
    const future = this.#future;
    const { setbacks } = source;
    const reading = source.read(future.logEndOffset, { maxBytes: pieceBytes, isolation: 'logEnd', minOneBatch: true });
    const { records, sizeBytes, release } = reading instanceof Promise ? await reading : reading;
    try {
      this.#ensureGoingOn();
      // It was cut off in the meantime, perhaps in the middle of what was read.
      if (source.setbacks !== setbacks) return;
      for (const piece of records) await future.appendAsFollower(piece).written;
    } finally {
      release?.();
    }
    await this.#throttled(sizeBytes);
  }

  /** Does what has been done to the source: settings, truncation, deletion from the front, high watermark. */
  #followSource(): void {
    const { source } = this;
    const future = this.#future;
    if (future.config !== source.config) future.updateConfig(source.config);
    if (source.setbacks !== this.#comparedSetbacks) this.#cutToCommonPart();
    if (future.logEndOffset < source.logStartOffset) future.truncateFullyAndStartAt(source.logStartOffset);
    future.updateHighWatermark(source.highWatermark);
    if (future.logStartOffset < source.logStartOffset) future.deleteRecordsBefore(source.logStartOffset);
    future.cleanedOffset = source.cleanedOffset;
  }

  /** As a follower finds by leader epochs where its log parts from its leader's. Without any it begins anew. */
  #cutToCommonPart(): void {
    const { source } = this;
    const future = this.#future;
    this.#comparedSetbacks = source.setbacks;
    while (future.logEndOffset > future.logStartOffset) {
      const { latestEpoch, logEndOffset } = future;
      const end = source.endOffsetForEpoch(latestEpoch ?? -1);
      if (end.leaderEpoch === latestEpoch && end.endOffset >= logEndOffset) return;
      if (end.endOffset >= 0) future.truncateTo(Math.min(end.endOffset, logEndOffset));
      if (future.latestEpoch === latestEpoch && future.logEndOffset === logEndOffset)
        future.truncateFullyAndStartAt(source.logStartOffset);
    }
  }

  /** False: the source was too fast, or went back; there is more to copy first. */
  async #finish(): Promise<boolean> {
    // Most of it, while nobody has to wait.
    await this.#future.flush();
    this.#ensureGoingOn();
    if (this.#lagBytes() > almostThereBytes) return false;
    const held = Promise.withResolvers<void>();
    this.source.holdAcknowledgements(held.promise);
    try {
      const endOffset = this.source.writtenEndOffset;
      const { setbacks } = this.source;
      while (this.#future.logEndOffset < endOffset) await this.#copyPiece();
      this.#followSource();
      await this.#future.close();
      this.#ensureGoingOn();
      if (this.source.setbacks !== setbacks || bytesFrom(this.source, this.#future.logEndOffset) > maxRestBytes) {
        this.#reopenFuture();
        return false;
      }
      const log = this.#takePlace();
      log.holdAcknowledgements(held.promise);
      await this.#forceNames(log);
      if (!this.directory.isOnline)
        held.reject(new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log directory ${this.directory.path} is offline`));
      return true;
    } finally {
      // Where the source still is what it was, those who wait are told what they would have been told.
      held.resolve();
    }
  }

  /** All in one turn. When it throws, the source still is the log. */
  #takePlace(): PartitionLog {
    const { source, directory } = this;
    const { fileSystem } = this.#host.world;
    const folder = this.#future.path;
    const target = `${directory.path}/${this.#name}`;
    source.writeStaged();
    let log: PartitionLog | undefined;
    try {
      fileSystem.renameSync(folder, target);
      log = this.#host.reopen(target, directory, source, true);
      copyRest(source, log);
    } catch (error) {
      log?.closeFiles();
      if (isDiskFault(error)) directory.fail(error);
      this.#ensureGoingOn();
      fileSystem.renameSync(target, folder);
      if (!isPassingFault(error)) throw error;
      throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${target} cannot take its place yet`, { cause: error });
    }
    log.takeEpochsOf(source);
    log.updateHighWatermark(source.highWatermark);
    this.#host.replaced(source, log);
    return log;
  }

  /** Until a power cut can neither undo the new name nor bring back the old one. */
  async #forceNames(log: PartitionLog): Promise<void> {
    await this.#forceName(this.directory);
    // Without the new directory the source is all there is.
    if (!this.directory.isOnline) return;
    this.#host.discard(this.source);
    await this.#forceName(this.source.directory);
    try {
      if (log.config.flushMessages < Number.MAX_SAFE_INTEGER && !log.isClosed) await log.flush();
    } catch (error) {
      // Its directory is offline by now, or it has been deleted.
      this.#host.world.logger.warn('A log that has just moved could not be forced to the device', { path: log.path, error });
    }
  }

  async #forceName(directory: LogDirectory): Promise<void> {
    try {
      if (directory.isOnline) await this.#host.world.fileSystem.syncDirectory(directory.path);
    } catch (error) {
      directory.fail(error);
    }
  }

  #reopenFuture(): void {
    const { path } = this.#future;
    try {
      this.#future = this.#host.reopen(path, this.directory, this.source, false);
    } catch (error) {
      this.directory.fail(error);
      throw new MoveEndedError(`${path} cannot be opened again`, { cause: error });
    }
    this.#comparedSetbacks = undefined;
    this.#host.futureReopened(this.#future);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const task = this.#host.world.timer.schedule(ms, resolve);
      this.#endPause = () => {
        task.cancel();
        resolve();
      };
    });
  }
}

/** How many bytes the log has from the batch with the offset on; those that are written. */
function bytesFrom(log: PartitionLog, offset: number): number {
  const all = log.segments.all();
  const first = Math.max(0, log.segments.floorIndex(offset));
  const start = all[first]?.positionOf(offset)?.position ?? all[first]?.writtenBytes ?? 0;
  return all.slice(first).reduce((sum, { writtenBytes }) => sum + writtenBytes, 0) - start;
}

/** Copies what is written of the source and the target does not have, without giving way to anything. */
function copyRest(source: PartitionLog, target: PartitionLog): void {
  while (target.logEndOffset < source.writtenEndOffset) {
    target.appendAsFollower(batchesFrom(source, target.logEndOffset));
    if (!target.writeStaged()) throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${target.path} could not be written`);
  }
}

/** Some whole batches, the first being the one with the offset or the next after it. */
function batchesFrom(log: PartitionLog, offset: number): Buffer {
  const all = log.segments.all();
  for (const segment of all.slice(Math.max(0, log.segments.floorIndex(offset)))) {
    const first = segment.positionOf(offset);
    if (first === undefined) continue;
    const size = Math.min(Math.max(pieceBytes, first.sizeBytes), segment.writtenBytes - first.position);
    const bytes = Buffer.allocUnsafeSlow(size);
    const read = segment.records.readSync(bytes, 0, size, first.position);
    let end = 0;
    for (let batch = batchSizeAt(bytes, 0, read); batch > 0; batch = batchSizeAt(bytes, end, read)) end += batch;
    return bytes.subarray(0, end);
  }
  throw new Error(`${log.path} has no batch from ${offset} on`);
}
