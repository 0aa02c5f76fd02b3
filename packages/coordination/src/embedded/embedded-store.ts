// The tree for one broker, or for several in one process: in memory, with a journal in the data directory. Sessions live as
// long as the process, so what a stopped broker left ephemeral is gone when the store is opened again.

import type { Clock, FileSystem, Logger, Timer } from '@odradek/runtime';
import {
  type Coordination,
  CoordinationError,
  type CoordinationErrorCode,
  type CoordinationStore,
  isCoordinationError,
  type NodeStat,
  type Operation,
  type OperationResult,
} from '../coordination.ts';
import { checkPath } from '../node-path.ts';
import { EmbeddedSession } from './embedded-session.ts';
import { GroupCommit } from './group-commit.ts';
import { encodeSnapshot, encodeTransaction, JournalReplay, transactionsHeader } from './journal-records.ts';
import { type Change, statOf, type Tree } from './tree.ts';
import { Watches } from './watches.ts';
import { JournalWriteError, WriteAheadFile } from './write-ahead-file.ts';

export interface EmbeddedStoreParts {
  readonly fileSystem: FileSystem;
  readonly timer: Timer;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the journal lies; created when absent. */
  readonly directory: string;
  /** The journal is written anew, as a snapshot, when it is longer than this and than twice the last snapshot. Default 4 MiB. */
  readonly compactAboveBytes?: number;
  /** The journal has failed, and nothing can be promised any more: whoever relies on the tree must stop. */
  readonly onFailure?: (error: unknown) => void;
}

/** What one operation gave; of a create also the stat, which a session tells when it was not a multi. */
export type AppliedOperation = OperationResult | { readonly type: 'create'; readonly path: string; readonly stat: NodeStat };

export const journalFileName = 'coordination.journal';

export class EmbeddedStore implements CoordinationStore {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #journal: WriteAheadFile;
  readonly #tree: Tree;
  readonly #commit: GroupCommit;
  readonly #watches = new Watches();
  readonly #sessions = new Map<bigint, EmbeddedSession>();
  readonly #compactAboveBytes: number;
  #snapshotBytes = 0;
  #zxid: number;
  #lastSessionId = 0n;
  readonly #onFailure: (error: unknown) => void;
  /** What is on the device is not known: nothing can be promised any more. */
  #brokenBy: unknown;

  private constructor(parts: EmbeddedStoreParts, journal: WriteAheadFile, replay: JournalReplay) {
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#journal = journal;
    this.#tree = replay.tree;
    this.#zxid = replay.zxid;
    this.#compactAboveBytes = parts.compactAboveBytes ?? 4 * 1024 * 1024;
    this.#onFailure = parts.onFailure ?? (() => undefined);
    this.#commit = new GroupCommit(parts.timer, (records) => this.#write(records));
  }

  /** Throws CorruptJournalError when the journal is damaged. */
  static async open(parts: EmbeddedStoreParts): Promise<EmbeddedStore> {
    parts.fileSystem.makeDirectorySync(parts.directory);
    const replay = new JournalReplay();
    const journal = WriteAheadFile.open({
      fileSystem: parts.fileSystem,
      path: `${parts.directory}/${journalFileName}`,
      logger: parts.logger,
      take: (payload) => replay.take(payload),
    });
    replay.ensureComplete();
    const store = new EmbeddedStore(parts, journal, replay);
    await store.#forgetEarlierSessions();
    return store;
  }

  /** Id of the last transaction. */
  get zxid(): number {
    return this.#zxid;
  }

  async openSession(): Promise<Coordination> {
    // Unique across restarts, because each start that finds ephemeral nodes writes a transaction.
    this.#lastSessionId = this.#lastSessionId >= BigInt(this.#zxid) ? this.#lastSessionId + 1n : BigInt(this.#zxid) + 1n;
    const session = new EmbeddedSession(this.#lastSessionId, this);
    this.#sessions.set(session.sessionId, session);
    return session;
  }

  /** As if the session's broker had not been heard of for too long. */
  async expireSession(sessionId: bigint): Promise<void> {
    await this.endSession(sessionId, 'expired');
  }

  /** Ends all sessions and closes the journal. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((sessionId) => this.endSession(sessionId, 'closed')));
    await this.#commit.idle();
    this.#journal.close();
  }

  /** For sessions: the operations take effect together or not at all, at once; the promise settles when that is durable. */
  write(session: EmbeddedSession, operations: readonly Operation[], isMulti = false): Promise<readonly AppliedOperation[]> {
    return new Promise((resolve, reject) => {
      let results: AppliedOperation[];
      try {
        this.#ensureUsable(session, operations[0]?.path ?? '/');
        results = this.#apply(session, operations, isMulti);
      } catch (error) {
        // Also a refusal waits: it may rest on what is not durable yet.
        this.#commit.tell(
          () => reject(error),
          (failure) => reject(connectionLoss(operations[0]?.path ?? '/', failure)),
        );
        return;
      }
      this.#commit.tell(
        () => resolve(results),
        (failure) => reject(connectionLoss(operations[0]?.path ?? '/', failure)),
      );
    });
  }

  /** For sessions: reads now, answers when all that was read is durable. */
  read<T>(
    session: EmbeddedSession,
    path: string,
    look: (tree: Tree, watches: Watches) => { readonly value: T; readonly unwatch?: () => void },
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (failure: unknown): void => reject(connectionLoss(path, failure));
      try {
        this.#ensureUsable(session, path);
        checkPath(path);
        const { value, unwatch } = look(this.#tree, this.#watches);
        if (unwatch !== undefined) this.#commit.onFailure(unwatch);
        this.#commit.tell(() => resolve(value), fail);
      } catch (error) {
        this.#commit.tell(() => reject(error), fail);
      }
    });
  }

  /** For sessions. Every ephemeral node goes in one transaction. */
  async endSession(sessionId: bigint, state: 'expired' | 'closed'): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    const deletions = this.#tree.ephemeralPaths(sessionId).map((path): Operation => ({ type: 'delete', path, version: -1 }));
    const deleted = deletions.length === 0 || this.#brokenBy !== undefined ? undefined : this.write(session, deletions);
    this.#watches.removeSession(sessionId);
    this.#sessions.delete(sessionId);
    session.end(state);
    try {
      await deleted;
    } catch (error) {
      // The next start forgets them.
      this.#logger.error('Could not remove the ephemeral nodes of a session', { session: String(sessionId), error });
    }
  }

  /** A process that died left its sessions' nodes behind. */
  async #forgetEarlierSessions(): Promise<void> {
    const orphans = this.#tree.ephemeralPaths();
    if (orphans.length === 0) return;
    const session = (await this.openSession()) as EmbeddedSession;
    await this.write(
      session,
      orphans.map((path) => ({ type: 'delete', path, version: -1 })),
    );
    await this.endSession(session.sessionId, 'closed');
  }

  #ensureUsable(session: EmbeddedSession, path: string): void {
    if (!this.#sessions.has(session.sessionId)) throw new CoordinationError('SessionExpired', path);
    if (this.#brokenBy !== undefined) throw connectionLoss(path, this.#brokenBy);
  }

  #apply(session: EmbeddedSession, operations: readonly Operation[], isMulti: boolean): AppliedOperation[] {
    const stamp = { zxid: this.#zxid + 1, timeMs: this.#clock.wallTimeMs() };
    const undos: (() => void)[] = [];
    const changes: Change[] = [];
    const results: AppliedOperation[] = [];
    try {
      for (const operation of operations) {
        const change = this.#changeOf(session, operation);
        if (change !== undefined) {
          undos.push(this.#tree.apply(change, stamp));
          changes.push(change);
        }
        results.push(this.#resultOf(operation, change));
      }
    } catch (error) {
      for (const undo of undos.reverse()) undo();
      throw isMulti && isCoordinationError(error)
        ? new CoordinationError(error.code, error.path, { failedOperation: results.length, cause: error })
        : error;
    }
    if (changes.length === 0) return results;
    this.#zxid = stamp.zxid;
    // The zxid of what is undone is not used again: someone may have seen it in a stat.
    this.#commit.add(encodeTransaction(stamp, changes), () => undos.reverse().forEach((undo) => undo()));
    for (const change of changes) this.#fireWatches(change);
    return results;
  }

  /** undefined: the operation only checks. */
  #changeOf(session: EmbeddedSession, operation: Operation): Change | undefined {
    const isSequential = operation.type === 'create' && operation.sequential === true;
    checkPath(isSequential ? `${operation.path}0` : operation.path);
    switch (operation.type) {
      case 'create': {
        const path = isSequential ? `${operation.path}${this.#nextSequence(operation.path)}` : operation.path;
        return {
          type: 'create',
          path,
          data: copyOf(operation.data),
          ephemeralOwner: operation.ephemeral === true ? session.sessionId : 0n,
        };
      }
      case 'set':
        this.#tree.check(operation.path, operation.version);
        return { type: 'set', path: operation.path, data: copyOf(operation.data) };
      case 'delete':
        this.#tree.check(operation.path, operation.version);
        return { type: 'delete', path: operation.path };
      case 'check':
        this.#tree.check(operation.path, operation.version);
        return undefined;
    }
  }

  #nextSequence(path: string): string {
    const parentPath = path.slice(0, Math.max(1, path.lastIndexOf('/')));
    return String(this.#tree.find(parentPath)?.createdChildren ?? 0).padStart(10, '0');
  }

  #resultOf(operation: Operation, change: Change | undefined): AppliedOperation {
    switch (operation.type) {
      case 'create': {
        const path = change?.path ?? operation.path;
        return { type: 'create', path, stat: statOf(this.#tree.get(path)) };
      }
      case 'set':
        return { type: 'set', stat: statOf(this.#tree.get(operation.path)) };
      default:
        return { type: operation.type };
    }
  }

  #fireWatches(change: Change): void {
    const { fired, undo } = this.#watches.fire(change);
    if (fired.length === 0) return;
    this.#commit.onFailure(undo);
    for (const { sessionId, watcher, event } of fired) {
      this.#commit.tell(
        () => {
          // In its own microtask: behind the continuations of earlier results, before those of later ones.
          if (this.#sessions.has(sessionId)) queueMicrotask(() => watcher(event));
        },
        () => undefined,
      );
    }
  }

  async #write(records: readonly Buffer[]): Promise<void> {
    try {
      if (this.#brokenBy !== undefined) throw this.#brokenBy;
      if (this.#journal.sizeBytes > Math.max(this.#compactAboveBytes, 3 * this.#snapshotBytes) && (await this.#tryCompact()))
        return;
      await this.#journal.append([transactionsHeader, ...records]);
    } catch (error) {
      const isUndone = error instanceof JournalWriteError && error.isUndone;
      if (!isUndone && this.#brokenBy === undefined) {
        this.#brokenBy = error;
        for (const session of this.#sessions.values()) session.disconnect();
        this.#onFailure(error);
      }
      this.#logger.error(
        isUndone
          ? 'A change to the coordination tree could not be written'
          : 'The coordination journal has failed; the tree cannot be used until a restart',
        { error },
      );
      throw error;
    }
  }

  /** The tree already holds what the group says, and nothing younger, so the snapshot stands for the group as well. */
  async #tryCompact(): Promise<boolean> {
    try {
      await this.#journal.replace(encodeSnapshot(this.#tree, this.#zxid));
      this.#snapshotBytes = this.#journal.sizeBytes;
      return true;
    } catch (error) {
      if (!(error instanceof JournalWriteError && error.isUndone)) throw error;
      // A disk that has no room for a second copy may have some for a few records. Not again before the journal is half as long again.
      this.#snapshotBytes = this.#journal.sizeBytes / 2;
      this.#logger.warn('The coordination journal could not be compacted', { error });
      return false;
    }
  }
}

function connectionLoss(path: string, cause: unknown): CoordinationError {
  const code: CoordinationErrorCode = 'ConnectionLoss';
  return isCoordinationError(cause, code) ? cause : new CoordinationError(code, path, { cause });
}

/** The caller may change its bytes afterwards. */
function copyOf(data: Uint8Array | null): Buffer | null {
  return data === null ? null : Buffer.from(data);
}
