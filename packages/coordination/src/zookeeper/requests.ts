// What is asked of ZooKeeper, and what it answers. Every frame begins with its size, which does not count itself:
//
//   a request        size int | xid int | opcode int | body
//   its answer       size int | xid int | zxid long | error int | body, when the error is 0
//
// The first frame each way is another: who connects, and what becomes of the session.
//
//   connect          size int | version int, 0 | last zxid seen long | timeout ms int | session long, 0 for a new one |
//                    password buffer | read only boolean
//   its answer       size int | version int, 0 | timeout ms int, 0 when the session is over | session long | password buffer |
//                    read only boolean
//
// A stat is czxid long | mzxid long | created ms long | modified ms long | version int | cversion int | aversion int |
// ephemeral owner long | data size int | children int | pzxid long.

import {
  CoordinationError,
  type CoordinationErrorCode,
  type NodeData,
  type NodeStat,
  type Operation,
  type OperationResult,
} from '../coordination.ts';
import type { AccessControl } from './access-lists.ts';
import { InvalidAnswerError, type JuteReader, JuteWriter } from './jute.ts';

export const opcodes = {
  delete: 2,
  exists: 3,
  get: 4,
  set: 5,
  sync: 9,
  ping: 11,
  children: 12,
  check: 13,
  multi: 14,
  create: 15,
  auth: 100,
  setWatches: 101,
  sasl: 102,
  close: -11,
  /** Of the results of a multi: this operation failed, or was not tried because another one did. */
  error: -1,
} as const;

const createdWithoutStat = 1;

/** Answers that belong to no request of ours, or to one of a kind of which one is under way at most. */
export const xids = { notification: -1, ping: -2, auth: -4, setWatches: -8 } as const;

/** What `error` means where the interface has a word for it. What was not done because the server was busy may be tried again. */
const errorCodes: ReadonlyMap<number, CoordinationErrorCode> = new Map([
  [-2, 'RuntimeInconsistency'],
  [-4, 'ConnectionLoss'],
  [-5, 'BadArguments'], // the server could not read the request
  [-7, 'ConnectionLoss'], // it took too long
  [-8, 'BadArguments'],
  [-101, 'NoNode'],
  [-102, 'NoAuth'],
  [-103, 'BadVersion'],
  [-108, 'NoChildrenForEphemerals'],
  [-110, 'NodeExists'],
  [-111, 'NotEmpty'],
  [-112, 'SessionExpired'],
  [-114, 'InvalidAcl'],
  [-115, 'AuthFailed'],
  [-118, 'ConnectionLoss'], // the session has moved to another connection
  [-122, 'ConnectionLoss'], // it took too long
  [-124, 'AuthFailed'], // the server wants SASL
  [-125, 'QuotaExceeded'],
  [-127, 'ConnectionLoss'], // the server has too much to do
]);

export const sessionExpiredError = -112;
export const sessionMovedError = -118;

export function answeredError(error: number, path: string, options: { readonly failedOperation?: number } = {}): CoordinationError {
  const code = errorCodes.get(error);
  return new CoordinationError(code ?? 'SystemError', path, { ...options, detail: `ZooKeeper answers ${error}` });
}

export interface Request<T> {
  /** Whole, but for the xid at position 4. */
  readonly frame: Buffer;
  /** May throw a CoordinationError, which is an answer too, or an InvalidAnswerError. */
  readonly decode: (answer: JuteReader) => T;
}

export const xidPosition = 4;

/** How many bytes come before the body: size, xid and opcode. */
const headSize = 12;

function request<T>(
  opcode: number,
  expectedBytes: number,
  write: (body: JuteWriter) => void,
  decode: (answer: JuteReader) => T,
): Request<T> {
  const writer = new JuteWriter(headSize + expectedBytes).int(0).int(0).int(opcode);
  write(writer);
  const frame = writer.finish();
  frame.writeInt32BE(frame.byteLength - 4, 0);
  return { frame, decode };
}

const nothing = (): void => undefined;

export function pathRequest<T>(opcode: number, path: string, watch: boolean, decode: (answer: JuteReader) => T): Request<T> {
  return request(opcode, path.length + 16, (body) => body.string(path).boolean(watch), decode);
}

export interface Created {
  readonly path: string;
  readonly stat: NodeStat;
}

export function createRequest(operation: Operation & { type: 'create' }, accessList: readonly AccessControl[]): Request<Created> {
  return request(opcodes.create, sizeOf(operation) + 64, (body) => writeCreate(body, operation, accessList), readCreated);
}

export function setRequest(operation: Operation & { type: 'set' }): Request<NodeStat> {
  return request(opcodes.set, sizeOf(operation), (body) => writeSet(body, operation), readStat);
}

export function deleteRequest(operation: Operation & { type: 'delete' }): Request<void> {
  return request(opcodes.delete, sizeOf(operation), (body) => writeVersioned(body, operation), nothing);
}

export function getRequest(path: string, watch: boolean): Request<{ data: NodeData; stat: NodeStat }> {
  return pathRequest(opcodes.get, path, watch, (answer) => ({ data: answer.buffer(), stat: readStat(answer) }));
}

export function existsRequest(path: string, watch: boolean): Request<NodeStat> {
  return pathRequest(opcodes.exists, path, watch, readStat);
}

export function childrenRequest(path: string, watch: boolean): Request<{ names: string[]; stat: NodeStat }> {
  return pathRequest(opcodes.children, path, watch, (answer) => ({
    names: answer.vector(() => answer.string()),
    stat: readStat(answer),
  }));
}

export function syncRequest(path: string): Request<void> {
  return request(opcodes.sync, path.length + 8, (body) => body.string(path), nothing);
}

export function closeRequest(): Request<void> {
  return request(opcodes.close, 0, nothing, nothing);
}

/**
 *   request   for each operation  opcode int | done boolean, 0 | error int, -1 | body, then -1 int | 1 boolean | -1 int
 *   answer    the same, with a result in place of the body; that of an operation that failed has opcode -1 and is its error again
 */
export function multiRequest(
  operations: readonly Operation[],
  accessLists: readonly (readonly AccessControl[])[],
): Request<readonly OperationResult[]> {
  const expectedBytes = operations.reduce((sum, operation) => sum + sizeOf(operation) + 80, 16);
  const write = (body: JuteWriter): void => {
    for (const [index, operation] of operations.entries()) {
      body.int(opcodes[operation.type]).boolean(false).int(-1);
      switch (operation.type) {
        case 'create':
          writeCreate(body, operation, accessLists[index]!);
          break;
        case 'set':
          writeSet(body, operation);
          break;
        case 'delete':
        case 'check':
          writeVersioned(body, operation);
          break;
      }
    }
    body.int(-1).boolean(true).int(-1);
  };
  return request(opcodes.multi, expectedBytes, write, (answer) => readResults(answer, operations));
}

/** One-shot watches of an earlier connection, to be set again; whatever has changed since that zxid fires at once. */
export interface StandingWatches {
  readonly data: readonly string[];
  readonly exists: readonly string[];
  readonly children: readonly string[];
}

/** Not setWatches2: that adds kinds of watches that are not used here, and servers before 3.6 do not know it. */
export function setWatchesRequest(lastZxid: number, watches: StandingWatches): Request<void> {
  const write = (body: JuteWriter): void => {
    body.long(BigInt(lastZxid));
    for (const paths of [watches.data, watches.exists, watches.children]) body.vector(paths, (path) => body.string(path));
  };
  return request(opcodes.setWatches, 1024, write, nothing);
}

export function pingFrame(): Buffer {
  const { frame } = request(opcodes.ping, 0, nothing, nothing);
  frame.writeInt32BE(xids.ping, xidPosition);
  return frame;
}

export function authFrame(scheme: string, auth: Uint8Array): Buffer {
  const { frame } = request(opcodes.auth, 64, (body) => body.int(0).string(scheme).buffer(auth), nothing);
  frame.writeInt32BE(xids.auth, xidPosition);
  return frame;
}

export function saslRequest(token: Uint8Array): Request<Buffer> {
  return request(
    opcodes.sasl,
    token.byteLength + 4,
    (body) => body.buffer(token),
    (answer) => answer.buffer() ?? Buffer.alloc(0),
  );
}

export interface ConnectRequest {
  readonly lastZxid: number;
  readonly timeoutMs: number;
  /** 0n: a new session. */
  readonly sessionId: bigint;
  readonly password: Buffer;
}

export interface ConnectAnswer {
  /** What the server and we agreed on; 0 or less: the session is over. */
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Buffer;
}

export function connectFrame({ lastZxid, timeoutMs, sessionId, password }: ConnectRequest): Buffer {
  const body = new JuteWriter(64)
    .int(0)
    .int(0)
    .long(BigInt(lastZxid))
    .int(timeoutMs)
    .long(sessionId)
    .buffer(password)
    .boolean(false);
  const frame = body.finish();
  frame.writeInt32BE(frame.byteLength - 4, 0);
  return frame;
}

export function readConnectAnswer(answer: JuteReader): ConnectAnswer {
  const version = answer.int();
  if (version !== 0) throw new InvalidAnswerError(`protocol version ${version}`);
  // Servers before 3.4 say nothing of read-only mode; others do, and we never ask for it.
  return { timeoutMs: answer.int(), sessionId: answer.long(), password: answer.buffer() ?? Buffer.alloc(0) };
}

export interface AnswerHeader {
  readonly xid: number;
  readonly zxid: number;
  readonly error: number;
}

export function readAnswerHeader(answer: JuteReader): AnswerHeader {
  return { xid: answer.int(), zxid: answer.safeLong(), error: answer.int() };
}

/** What became of a node on which there was a watch. */
export interface Notification {
  readonly type: 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';
  readonly path: string;
}

const notificationTypes = [undefined, 'created', 'deleted', 'dataChanged', 'childrenChanged'] as const;

/** undefined: news of something that is not used here, such as the removal of a watch. */
export function readNotification(answer: JuteReader): Notification | undefined {
  const type = notificationTypes[answer.int()];
  answer.int(); // The state of the session, which the connection itself tells.
  const path = answer.string();
  return type === undefined ? undefined : { type, path };
}

function sizeOf(operation: Operation): number {
  const dataSize = operation.type === 'create' || operation.type === 'set' ? (operation.data?.byteLength ?? 0) : 0;
  return operation.path.length + dataSize + 16;
}

function writeCreate(body: JuteWriter, operation: Operation & { type: 'create' }, accessList: readonly AccessControl[]): void {
  body.string(operation.path).buffer(operation.data);
  body.vector(accessList, ({ permissions, scheme, id }) => body.int(permissions).string(scheme).string(id));
  // Bits: 1 ephemeral, 2 sequential.
  body.int((operation.ephemeral === true ? 1 : 0) + (operation.sequential === true ? 2 : 0));
}

function writeSet(body: JuteWriter, operation: Operation & { type: 'set' }): void {
  body.string(operation.path).buffer(operation.data).int(operation.version);
}

function writeVersioned(body: JuteWriter, operation: { readonly path: string; readonly version: number }): void {
  body.string(operation.path).int(operation.version);
}

function readCreated(answer: JuteReader): Created {
  return { path: answer.string(), stat: readStat(answer) };
}

function readStat(answer: JuteReader): NodeStat {
  const czxid = answer.safeLong();
  const mzxid = answer.safeLong();
  const createdMs = answer.safeLong();
  const modifiedMs = answer.safeLong();
  const version = answer.int();
  const cversion = answer.int();
  const aversion = answer.int();
  const ephemeralOwner = answer.long();
  const dataSize = answer.int();
  const numChildren = answer.int();
  const pzxid = answer.safeLong();
  return { czxid, mzxid, pzxid, createdMs, modifiedMs, version, cversion, aversion, ephemeralOwner, dataSize, numChildren };
}

function readResults(answer: JuteReader, operations: readonly Operation[]): OperationResult[] {
  const results: OperationResult[] = [];
  const errors: number[] = [];
  for (const operation of operations) {
    const opcode = answer.int();
    const isEnd = answer.boolean();
    answer.int();
    if (isEnd) throw new InvalidAnswerError('a multi with too few results');
    if (opcode === opcodes.error) errors.push(answer.int());
    else results.push(readResult(answer, operation, opcode));
  }
  const end = answer.int();
  if (!answer.boolean()) throw new InvalidAnswerError(`a multi with a result too many, of opcode ${end}`);
  if (errors.length === 0) return results;
  if (results.length > 0) throw new InvalidAnswerError('a multi that was done in part');
  // Those before the one that failed have 0, those behind it RuntimeInconsistency.
  const failedOperation = Math.max(
    0,
    errors.findIndex((error) => error !== 0),
  );
  throw answeredError(errors[failedOperation]!, operations[failedOperation]!.path, { failedOperation });
}

function readResult(answer: JuteReader, operation: Operation, opcode: number): OperationResult {
  // In a multi a create is answered as by servers before 3.5, which is without a stat.
  if (opcode === createdWithoutStat && operation.type === 'create') return { type: 'create', path: answer.string() };
  if (opcode !== opcodes[operation.type]) throw new InvalidAnswerError(`a result of opcode ${opcode} for a ${operation.type}`);
  switch (operation.type) {
    case 'create':
      return { type: 'create', path: readCreated(answer).path };
    case 'set':
      return { type: 'set', stat: readStat(answer) };
    case 'delete':
    case 'check':
      return { type: operation.type };
  }
}
