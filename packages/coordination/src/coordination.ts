// A small tree of nodes that brokers share: ZooKeeper's primitives and ZooKeeper's semantics. Two stores offer it, the
// embedded one (a journal in the data directory) and a ZooKeeper ensemble; coordination.contract.ts is what both must pass.
//
// One Coordination is one session. Its operations take effect, and their promises settle, in the order of the calls, so
// thousands may be in flight. While the store is out of reach they wait; see docs/decisions/0017 for what that means for writes. What a promise or a watch tells is durable. A watch that an operation sets off is delivered
// before the result of any later operation of the same session that could see the change.

/** What went wrong, in ZooKeeper's words. */
export type CoordinationErrorCode =
  | 'NoNode'
  | 'NodeExists'
  | 'BadVersion'
  | 'NotEmpty'
  | 'NoChildrenForEphemerals'
  | 'BadArguments'
  | 'NoAuth'
  /** The server does not believe who we say that we are. */
  | 'AuthFailed'
  | 'InvalidAcl'
  | 'QuotaExceeded'
  /** The request, or the answer, has more bytes than a server, or we, take. */
  | 'TooLarge'
  /** Something else; the detail says what. */
  | 'SystemError'
  /** The session is over; so are its ephemeral nodes and watches. The operation may have taken effect or not. */
  | 'SessionExpired'
  /**
   * The store could not be reached, or not be understood; the operation may have taken effect or not. Rare: operations wait for the store, and
   * are repeated, as long as the session goes on.
   */
  | 'ConnectionLoss'
  /** Of an operation of a multi: another one failed, so this one was not tried. */
  | 'RuntimeInconsistency';

export class CoordinationError extends Error {
  readonly code: CoordinationErrorCode;
  readonly path: string;
  /** Of a failed multi: the index of the operation that failed. */
  readonly failedOperation: number | undefined;

  constructor(
    code: CoordinationErrorCode,
    path: string,
    options: { readonly failedOperation?: number; readonly cause?: unknown; readonly detail?: string } = {},
  ) {
    super(`${code} for ${path}${options.detail === undefined ? '' : `: ${options.detail}`}`, { cause: options.cause });
    this.name = 'CoordinationError';
    this.code = code;
    this.path = path;
    this.failedOperation = options.failedOperation;
  }
}

/** Whether the error is one of these answers of the store. */
export function isCoordinationError(error: unknown, ...codes: readonly CoordinationErrorCode[]): error is CoordinationError {
  return error instanceof CoordinationError && (codes.length === 0 || codes.includes(error.code));
}

/** A transaction id is at most 2^53 - 1: ZooKeeper's has 32 bits of leader epoch, and no ensemble elects two million leaders. */
export interface NodeStat {
  /** Transaction that created the node. Kafka uses that of /brokers/ids/N as the broker's epoch. */
  readonly czxid: number;
  /** Transaction that last set the data. */
  readonly mzxid: number;
  /** Transaction that last created or deleted a child. */
  readonly pzxid: number;
  /** Wall time of czxid and mzxid, in ms. */
  readonly createdMs: number;
  readonly modifiedMs: number;
  /** How often the data was set. */
  readonly version: number;
  /** How often a child was created or deleted. */
  readonly cversion: number;
  /** How often the access list was set. */
  readonly aversion: number;
  /** The session that the node goes with; 0n for a persistent node. */
  readonly ephemeralOwner: bigint;
  /** Size of the data in bytes. */
  readonly dataSize: number;
  readonly numChildren: number;
}

/** `null` is no data at all, which Kafka writes to its folders; it is not the same as empty data. */
export type NodeData = Buffer | null;

export interface WatchEvent {
  readonly type: 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';
  readonly path: string;
}

/** Called once. The same function registered twice for one node and kind is called once. */
export type Watcher = (event: WatchEvent) => void;

export interface CreateOptions {
  /** The node goes away with the session. */
  readonly ephemeral?: boolean;
  /** A number of ten digits, which only grows under one parent, is put behind the path. */
  readonly sequential?: boolean;
}

/** A version of -1 means any. */
export type Operation =
  | ({ readonly type: 'create'; readonly path: string; readonly data: Uint8Array | null } & CreateOptions)
  | { readonly type: 'set'; readonly path: string; readonly data: Uint8Array | null; readonly version: number }
  | { readonly type: 'delete'; readonly path: string; readonly version: number }
  | { readonly type: 'check'; readonly path: string; readonly version: number };

/** Of a multi. It does not tell the stat of a node that it creates, because ZooKeeper does not; a `set` behind the `create` does. */
export type OperationResult =
  | { readonly type: 'create'; readonly path: string }
  | { readonly type: 'set'; readonly stat: NodeStat }
  | { readonly type: 'delete' }
  | { readonly type: 'check' };

/**
 * `disconnected`: the store cannot be reached; the session goes on. `lapsed`: it could not be reached for so long that the session may be
 * over without our knowing, and others may have been told that our ephemeral nodes are gone. Both may become `connected` again, or
 * `expired`. `expired` and `closed` are final.
 */
export type SessionState = 'connected' | 'disconnected' | 'lapsed' | 'expired' | 'closed';

export interface Coordination {
  readonly sessionId: bigint;
  readonly state: SessionState;
  /** Calls the listener on each change of the state; returns how to stop that. */
  onState(listener: (state: SessionState) => void): () => void;

  /** The parent must exist. Answers the path, with its number when sequential. NoNode, NodeExists, NoChildrenForEphemerals. */
  create(
    path: string,
    data: Uint8Array | null,
    options?: CreateOptions,
  ): Promise<{ readonly path: string; readonly stat: NodeStat }>;
  /** NoNode (and then the watch is not set). The watch fires when the data is set or the node deleted. */
  get(path: string, watcher?: Watcher): Promise<{ readonly data: NodeData; readonly stat: NodeStat }>;
  /** NoNode, BadVersion. */
  set(path: string, data: Uint8Array | null, version?: number): Promise<NodeStat>;
  /** NoNode, BadVersion, NotEmpty. */
  delete(path: string, version?: number): Promise<void>;
  /** undefined when there is no such node. The watch fires when it is created, set or deleted. */
  exists(path: string, watcher?: Watcher): Promise<NodeStat | undefined>;
  /** Names, in no particular order. The watch fires when a child is created or deleted, or the node deleted. */
  children(path: string, watcher?: Watcher): Promise<{ readonly names: string[]; readonly stat: NodeStat }>;
  /** All or nothing. Rejects with the error of the first operation that failed, and `failedOperation`. */
  multi(operations: readonly Operation[]): Promise<readonly OperationResult[]>;
  /** What follows sees everything that any session was told before this call. */
  sync(path: string): Promise<void>;
  /** Ends the session: its ephemeral nodes are deleted. */
  close(): Promise<void>;
}

/** Where sessions come from: the embedded store, or the addresses of an ensemble. */
export interface CoordinationStore {
  openSession(options?: { readonly timeoutMs?: number }): Promise<Coordination>;
}
