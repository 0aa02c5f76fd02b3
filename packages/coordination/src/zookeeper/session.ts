// One session with a ZooKeeper ensemble: the Coordination that a broker of a cluster holds.
//
// While there is no connection, operations wait for the next one, and what was under way when a connection broke is sent again. When
// a write is refused that way, it is looked whether that is because its first sending had taken effect. Only the end of the session ends the
// waiting. An operation that cannot be sent at all (a bad path, too many bytes) is refused at once.

import {
  type Coordination,
  CoordinationError,
  type CreateOptions,
  type NodeData,
  type NodeStat,
  type Operation,
  type OperationResult,
  type SessionState,
  type WatchEvent,
  type Watcher,
} from '../coordination.ts';
import { checkPath } from '../node-path.ts';
import { accessListOf } from './access-lists.ts';
import { EnsembleLink, type EnsembleLinkParts } from './ensemble-link.ts';
import { InvalidAnswerError } from './jute.ts';
import { ownSuccess, type Successes } from './lost-answers.ts';
import {
  answeredError,
  childrenRequest,
  createRequest,
  deleteRequest,
  existsRequest,
  getRequest,
  multiRequest,
  type Notification,
  type Request,
  setRequest,
  syncRequest,
} from './requests.ts';
import { type WatchKind, WatchTable } from './watch-table.ts';

export interface ZooKeeperSessionParts extends EnsembleLinkParts {
  /** Empty, or what stands before every path. */
  readonly chroot: string;
  /** Whether nodes are created with access lists that name their creator. */
  readonly secure: boolean;
  readonly maxRequestBytes: number;
}

interface Question<T> {
  /** What the operation is about, as the caller knows it. */
  readonly path: string;
  readonly request: () => Request<T>;
  readonly watcher?: Watcher | undefined;
  readonly watchKind?: WatchKind;
  /** What to answer instead of NoNode; the watcher then waits for the node. */
  readonly whenAbsent?: { readonly value: T };
  /** Of a write: what it does, and its answer when it turns out to have done so. */
  readonly write?: { readonly operations: readonly Operation[]; readonly answer: (done: Successes) => T };
}

const noNode = -101;

export class ZooKeeperSession implements Coordination {
  readonly #parts: ZooKeeperSessionParts;
  readonly #link: EnsembleLink;
  readonly #watches = new WatchTable();
  readonly #listeners = new Set<(state: SessionState) => void>();
  #closing: Promise<void> | undefined;

  private constructor(parts: ZooKeeperSessionParts) {
    this.#parts = parts;
    this.#link = new EnsembleLink(parts, {
      changed: (state) => this.#changed(state),
      notified: (notification) => this.#notified(notification),
      standingWatches: () => this.#watches.standing(),
    });
  }

  /** Rejects with ConnectionLoss when the ensemble cannot be reached in time, and with AuthFailed. */
  static async open(parts: ZooKeeperSessionParts): Promise<ZooKeeperSession> {
    const session = new ZooKeeperSession(parts);
    await session.#link.open();
    return session;
  }

  get sessionId(): bigint {
    return this.#link.sessionId;
  }

  get state(): SessionState {
    return this.#link.state;
  }

  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  create(
    path: string,
    data: Uint8Array | null,
    options: CreateOptions = {},
  ): Promise<{ readonly path: string; readonly stat: NodeStat }> {
    const operation = { type: 'create', path, data, ...options } as const;
    const request = () => {
      const { decode, frame } = createRequest(this.#toServer(operation), this.#accessListOf(path));
      return { frame, decode: (answer: Parameters<typeof decode>[0]) => this.#createdByUs(decode(answer)) };
    };
    return this.#ask({ path, request, write: { operations: [operation], answer: (done) => ({ path, stat: done.stat(path) }) } });
  }

  get(path: string, watcher?: Watcher): Promise<{ readonly data: NodeData; readonly stat: NodeStat }> {
    const request = () => getRequest(this.#serverPath(path), watcher !== undefined);
    return this.#ask({ path, request, watcher, watchKind: 'data' });
  }

  set(path: string, data: Uint8Array | null, version = -1): Promise<NodeStat> {
    const operation = { type: 'set', path, data, version } as const;
    const request = () => setRequest(this.#toServer(operation));
    return this.#ask({ path, request, write: { operations: [operation], answer: (done) => done.stat(path) } });
  }

  delete(path: string, version = -1): Promise<void> {
    const operation = { type: 'delete', path, version } as const;
    const request = () => deleteRequest(this.#toServer(operation));
    return this.#ask({ path, request, write: { operations: [operation], answer: () => undefined } });
  }

  exists(path: string, watcher?: Watcher): Promise<NodeStat | undefined> {
    const request = () => existsRequest(this.#serverPath(path), watcher !== undefined);
    return this.#ask<NodeStat | undefined>({ path, request, watcher, watchKind: 'data', whenAbsent: { value: undefined } });
  }

  children(path: string, watcher?: Watcher): Promise<{ readonly names: string[]; readonly stat: NodeStat }> {
    const request = () => childrenRequest(this.#serverPath(path), watcher !== undefined);
    return this.#ask({ path, request, watcher, watchKind: 'children' });
  }

  multi(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    const asked = operations.slice();
    const request = () => {
      const { decode, frame } = multiRequest(
        asked.map((operation) => this.#toServer(operation)),
        asked.map((operation) => this.#accessListOf(operation.path)),
      );
      return { frame, decode: (answer: Parameters<typeof decode>[0]) => this.#resultsFor(asked, () => decode(answer)) };
    };
    const answer = (done: Successes): OperationResult[] => asked.map((operation) => done.result(operation));
    return this.#ask({ path: asked[0]?.path ?? '/', request, write: { operations: asked, answer } });
  }

  sync(path: string): Promise<void> {
    return this.#ask({ path, request: () => syncRequest(this.#serverPath(path)) });
  }

  /** When no server can be told, the session ends here, and in the ensemble when its timeout has passed. */
  close(): Promise<void> {
    this.#closing ??= this.#link.close();
    return this.#closing;
  }

  #ask<T>({ path, request, watcher, watchKind = 'data', whenAbsent, write }: Question<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let made: Request<T>;
      try {
        if (this.#closing !== undefined) throw new CoordinationError('SessionExpired', path, { detail: 'the session was closed' });
        made = request();
        this.#checkSize(path, made);
      } catch (error) {
        reject(error);
        return;
      }
      const watch = (kind: WatchKind): void => {
        if (watcher !== undefined) this.#watches.add(kind, this.#serverPath(path), watcher);
      };
      const refuse = (refusal: CoordinationError, isRepeated: boolean): void => {
        if (write === undefined || !isRepeated) reject(refusal);
        else {
          ownSuccess(this, write.operations, refusal)
            .then((done) => (done === undefined ? reject(refusal) : resolve(write.answer(done))))
            .catch(reject);
        }
      };
      this.#link.send({
        path,
        frame: made.frame,
        fail: reject,
        answer: (error, body, isRepeated) => {
          if (error === noNode && whenAbsent !== undefined) {
            watch('exists');
            resolve(whenAbsent.value);
          } else if (error !== 0) refuse(answeredError(error, path), isRepeated);
          else {
            let value: T;
            try {
              value = made.decode(body);
            } catch (failure) {
              if (!(failure instanceof CoordinationError)) throw failure;
              refuse(failure, isRepeated);
              return;
            }
            watch(watchKind);
            resolve(value);
          }
        },
      });
    });
  }

  #checkSize(path: string, { frame }: Request<unknown>): void {
    const bytes = frame.byteLength - 4;
    if (bytes > this.#parts.maxRequestBytes) {
      const detail = `the request has ${bytes} bytes, and ZooKeeper takes ${this.#parts.maxRequestBytes} (jute.maxbuffer)`;
      throw new CoordinationError('TooLarge', path, { detail });
    }
  }

  #accessListOf(path: string) {
    return accessListOf(path, this.#parts.secure);
  }

  #toServer<T extends Operation>(operation: T): T {
    const isSequential = operation.type === 'create' && operation.sequential === true;
    // The number that comes behind it may be the whole name.
    checkPath(isSequential ? `${operation.path}0` : operation.path);
    return { ...operation, path: this.#prefixed(operation.path) };
  }

  #serverPath(path: string): string {
    checkPath(path);
    return this.#prefixed(path);
  }

  #prefixed(path: string): string {
    const { chroot } = this.#parts;
    return path === '/' && chroot !== '' ? chroot : chroot + path;
  }

  /** The server's path as our callers know it. */
  #ownPath(path: string): string {
    const { chroot } = this.#parts;
    if (path === chroot) return '/';
    if (!path.startsWith(`${chroot}/`)) throw new InvalidAnswerError(`news of ${path}, which is not in ${chroot}`);
    return path.slice(chroot.length);
  }

  #createdByUs<T extends { readonly path: string }>(created: T): T {
    return { ...created, path: this.#ownPath(created.path) };
  }

  #resultsFor(asked: readonly Operation[], decode: () => readonly OperationResult[]): OperationResult[] {
    try {
      return decode().map((result) => (result.type === 'create' ? this.#createdByUs(result) : result));
    } catch (error) {
      if (!(error instanceof CoordinationError) || error.failedOperation === undefined) throw error;
      const { code, failedOperation } = error;
      throw new CoordinationError(code, asked[failedOperation]!.path, { failedOperation, cause: error });
    }
  }

  #changed(state: SessionState): void {
    if (state === 'expired' || state === 'closed') this.#watches.clear();
    for (const listener of [...this.#listeners]) listener(state);
  }

  #notified(notification: Notification): void {
    const event: WatchEvent = { type: notification.type, path: this.#ownPath(notification.path) };
    for (const watcher of this.#watches.take(notification)) {
      // In its own microtask: behind the continuations of earlier results, before those of later ones.
      queueMicrotask(() => {
        if (!this.#isOver) watcher(event);
      });
    }
  }

  get #isOver(): boolean {
    const { state } = this.#link;
    return state === 'expired' || state === 'closed';
  }
}
