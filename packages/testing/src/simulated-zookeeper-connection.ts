// One connection to the simulated ZooKeeper: frames in, calls on the embedded store, answers and news of watches out in the order in
// which the store tells them. The frames are drawn in packages/coordination/src/zookeeper/requests.ts.

import {
  type Coordination,
  CoordinationError,
  type CoordinationErrorCode,
  type EmbeddedStore,
  JuteReader,
  JuteWriter,
  type NodeStat,
  type Operation,
  opcodes,
  type WatchEvent,
} from '@odradek/coordination';
import { FrameCutter } from '@odradek/protocol';
import type { ByteStream, StreamReceiver } from '@odradek/runtime';

export interface ServedSession {
  readonly coordination: Coordination;
  readonly machineName: string;
  readonly password: Buffer;
  readonly timeoutMs: number;
  connection: ZooKeeperConnection | undefined;
  /** Monotonic time of the last frame. */
  heardMs: number;
}

export interface ZooKeeperConnectionParts {
  readonly store: EmbeddedStore;
  readonly attach: (asked: {
    readonly sessionId: bigint;
    readonly password: Buffer;
    readonly timeoutMs: number;
  }) => Promise<ServedSession | undefined>;
  readonly hear: (session: ServedSession) => void;
  readonly end: (session: ServedSession) => Promise<void>;
  readonly onClose: () => void;
}

const maxFrameBytes = 1024 * 1024;
const notificationXid = -1;
const eventTypes = { created: 1, deleted: 2, dataChanged: 3, childrenChanged: 4 } as const;
const syncConnected = 3;
const createdWithoutStat = 1;

const errorNumbers: Readonly<Partial<Record<CoordinationErrorCode, number>>> = {
  RuntimeInconsistency: -2,
  BadArguments: -8,
  NoNode: -101,
  NoAuth: -102,
  BadVersion: -103,
  NoChildrenForEphemerals: -108,
  NodeExists: -110,
  NotEmpty: -111,
  SessionExpired: -112,
};
const systemError = -1;
const runtimeInconsistency = -2;
const noBody = Buffer.alloc(0);

export class ZooKeeperConnection implements StreamReceiver {
  readonly #stream: ByteStream;
  readonly #parts: ZooKeeperConnectionParts;
  readonly #cutter = new FrameCutter(maxFrameBytes);
  #session: ServedSession | undefined;
  /** Frames are taken one after the other: the first one has to find the session. */
  #isConnecting = false;
  readonly #waiting: Buffer[] = [];
  /** In the order of the requests. */
  readonly #answers: Answer[] = [];
  #isClosed = false;

  constructor(stream: ByteStream, parts: ZooKeeperConnectionParts) {
    this.#stream = stream;
    this.#parts = parts;
  }

  drop(): void {
    this.#stream.destroy();
    this.#close();
  }

  onData(chunk: Buffer): void {
    this.#cutter.add(Buffer.from(chunk));
    for (let frame = this.#cutter.next(); frame !== null; frame = this.#cutter.next()) {
      this.#waiting.push(Buffer.from(frame));
    }
    this.#proceed();
  }

  onDrain(): void {
    // Nobody is held back here.
  }

  onEnd(): void {
    this.drop();
  }

  onClose(): void {
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#session?.connection === this) this.#session.connection = undefined;
    this.#parts.onClose();
  }

  #proceed(): void {
    while (!this.#isClosed && !this.#isConnecting) {
      const frame = this.#waiting.shift();
      if (frame === undefined) return;
      if (this.#session === undefined) this.#connect(new JuteReader(frame));
      else this.#handle(this.#session, new JuteReader(frame));
    }
  }

  #connect(request: JuteReader): void {
    request.int();
    request.long();
    const asked = { timeoutMs: request.int(), sessionId: request.long(), password: request.buffer() ?? Buffer.alloc(0) };
    this.#isConnecting = true;
    void this.#parts.attach(asked).then((session) => {
      this.#isConnecting = false;
      if (this.#isClosed) return;
      const answer = new JuteWriter().int(0);
      if (session === undefined) answer.int(0).long(0n).buffer(Buffer.alloc(16)).boolean(false);
      else answer.int(session.timeoutMs).long(session.coordination.sessionId).buffer(session.password).boolean(false);
      this.#send(framed(answer.finish()));
      if (session === undefined) {
        this.#stream.end();
        return;
      }
      this.#session = session;
      this.#proceed();
    });
  }

  #handle(session: ServedSession, request: JuteReader): void {
    this.#parts.hear(session);
    const xid = request.int();
    const opcode = request.int();
    if (opcode === opcodes.close) {
      void this.#parts.end(session).then(() => {
        this.#send(answerFrame(xid, this.#parts.store.zxid, 0));
        this.#stream.end();
      });
      return;
    }
    try {
      this.#call(session.coordination, xid, opcode, request);
    } catch {
      this.drop();
    }
  }

  #call(tree: Coordination, xid: number, opcode: number, request: JuteReader): void {
    switch (opcode) {
      case opcodes.create: {
        const { path, data, ephemeral, sequential } = readCreate(request);
        const creating = tree.create(path, data, { ephemeral, sequential });
        this.#answerWith(xid, creating, (created, answer) => writeStat(answer.string(created.path), created.stat));
        return;
      }
      case opcodes.set: {
        const changing = tree.set(request.string(), request.buffer(), request.int());
        this.#answerWith(xid, changing, (stat, answer) => writeStat(answer, stat));
        return;
      }
      case opcodes.delete:
        this.#answerWith(xid, tree.delete(request.string(), request.int()), nothing);
        return;
      case opcodes.get: {
        const reading = tree.get(request.string(), this.#watcher(request.boolean()));
        this.#answerWith(xid, reading, ({ data, stat }, answer) => writeStat(answer.buffer(data), stat));
        return;
      }
      case opcodes.exists: {
        const path = request.string();
        this.#answerWith(xid, tree.exists(path, this.#watcher(request.boolean())), (stat, answer) => {
          if (stat === undefined) throw new CoordinationError('NoNode', path);
          writeStat(answer, stat);
        });
        return;
      }
      case opcodes.children: {
        const reading = tree.children(request.string(), this.#watcher(request.boolean()));
        this.#answerWith(xid, reading, ({ names, stat }, answer) => {
          writeStat(
            answer.vector(names, (name) => answer.string(name)),
            stat,
          );
        });
        return;
      }
      case opcodes.sync: {
        const path = request.string();
        this.#answerWith(xid, tree.sync(path), (_, answer) => answer.string(path));
        return;
      }
      case opcodes.multi:
        this.#multi(tree, xid, readOperations(request));
        return;
      case opcodes.setWatches:
        this.#answerWith(xid, this.#setWatches(tree, request), nothing);
        return;
      case opcodes.ping:
      case opcodes.auth:
        this.#answerWith(xid, tree.sync('/'), nothing);
        return;
      default:
        this.#answerWith(xid, tree.sync('/'), () => {
          throw new Error(`opcode ${opcode} is not known here`);
        });
    }
  }

  #answerWith<T>(xid: number, result: Promise<T>, write: (value: T, answer: JuteWriter) => unknown): void {
    // That of the call itself, not of the moment of the answer: what came in between is still to be told.
    const { zxid } = this.#parts.store;
    const answer: Answer = { frame: undefined };
    this.#answers.push(answer);
    const settle = (error: number, body?: Buffer): void => {
      answer.frame = answerFrame(xid, zxid, error, body);
      this.#sendInOrder();
    };
    result.then(
      (value) => {
        const body = new JuteWriter();
        try {
          write(value, body);
        } catch (error) {
          settle(errorNumber(error));
          return;
        }
        settle(0, body.finish());
      },
      (error: unknown) => settle(errorNumber(error)),
    );
  }

  #multi(tree: Coordination, xid: number, operations: readonly Operation[]): void {
    const outcome = tree.multi(operations).then(
      (results) => (body: JuteWriter) => {
        for (const result of results) {
          // A server answers the create of a multi as those before 3.5 did, without a stat.
          body.int(result.type === 'create' ? createdWithoutStat : opcodes[result.type]);
          body.boolean(false).int(0);
          if (result.type === 'create') body.string(result.path);
          else if (result.type === 'set') writeStat(body, result.stat);
        }
      },
      (error: unknown) => (body: JuteWriter) => {
        const failed = error instanceof CoordinationError ? (error.failedOperation ?? 0) : 0;
        operations.forEach((_, index) => {
          const number = index < failed ? 0 : index === failed ? errorNumber(error) : runtimeInconsistency;
          body.int(opcodes.error).boolean(false).int(number).int(number);
        });
      },
    );
    this.#answerWith(xid, outcome, (write, body) => {
      write(body);
      body.int(-1).boolean(true).int(-1);
    });
  }

  /** What has changed since the connection before this one is told at once; a watch that was set all the same finds nobody later. */
  async #setWatches(tree: Coordination, request: JuteReader): Promise<void> {
    const since = Number(request.long());
    const [data = [], exists = [], children = []] = [0, 1, 2].map(() => request.vector(() => request.string()));
    const watcher = this.#notify;
    const looks = [
      ...data.map(async (path) => {
        const stat = await tree.exists(path, watcher);
        if (stat === undefined) watcher({ type: 'deleted', path });
        else if (stat.mzxid > since) watcher({ type: 'dataChanged', path });
      }),
      ...exists.map(async (path) => {
        if ((await tree.exists(path, watcher)) !== undefined) watcher({ type: 'created', path });
      }),
      ...children.map(async (path) => {
        try {
          if ((await tree.children(path, watcher)).stat.pzxid > since) watcher({ type: 'childrenChanged', path });
        } catch (error) {
          if (!(error instanceof CoordinationError && error.code === 'NoNode')) throw error;
          watcher({ type: 'deleted', path });
        }
      }),
    ];
    await Promise.all(looks);
  }

  #watcher(isWanted: boolean): ((event: WatchEvent) => void) | undefined {
    return isWanted ? this.#notify : undefined;
  }

  /** One function for all watches of this connection: the store calls it once for each path and kind. */
  readonly #notify = ({ type, path }: WatchEvent): void => {
    const body = new JuteWriter().int(eventTypes[type]).int(syncConnected).string(path).finish();
    // Behind what is known already, which may be the answer that set the watch, and before what is not known yet.
    const behind = this.#answers.findLastIndex(({ frame }) => frame !== undefined);
    this.#answers.splice(behind + 1, 0, { frame: answerFrame(notificationXid, -1, 0, body) });
    this.#sendInOrder();
  };

  #sendInOrder(): void {
    while (this.#answers[0]?.frame !== undefined) this.#send(this.#answers.shift()?.frame ?? []);
  }

  #send(frame: readonly Buffer[]): void {
    if (!this.#isClosed) this.#stream.write(frame);
  }
}

/** One that the client is owed; its frame once the store has answered. */
interface Answer {
  frame: readonly Buffer[] | undefined;
}

function answerFrame(xid: number, zxid: number, error: number, body: Buffer = noBody): Buffer[] {
  return framed(new JuteWriter().int(xid).long(BigInt(zxid)).int(error).finish(), body);
}

function framed(head: Buffer, body: Buffer = noBody): Buffer[] {
  const size = Buffer.alloc(4);
  size.writeInt32BE(head.byteLength + body.byteLength);
  return [size, head, body];
}

function errorNumber(error: unknown): number {
  return (error instanceof CoordinationError ? errorNumbers[error.code] : undefined) ?? systemError;
}

function nothing(): void {
  // There is nothing to write.
}

function readOperations(request: JuteReader): Operation[] {
  const operations: Operation[] = [];
  for (;;) {
    const opcode = request.int();
    const isEnd = request.boolean();
    request.int();
    if (isEnd) return operations;
    operations.push(readOperation(opcode, request));
  }
}

function readCreate(request: JuteReader) {
  const path = request.string();
  const data = request.buffer();
  request.vector(() => [request.int(), request.string(), request.string()]);
  const bits = request.int();
  return { type: 'create', path, data, ephemeral: (bits & 1) !== 0, sequential: (bits & 2) !== 0 } as const;
}

function readOperation(opcode: number, request: JuteReader): Operation {
  if (opcode === opcodes.create) return readCreate(request);
  const path = request.string();
  switch (opcode) {
    case opcodes.set:
      return { type: 'set', path, data: request.buffer(), version: request.int() };
    case opcodes.delete:
    case opcodes.check:
      return { type: opcode === opcodes.delete ? 'delete' : 'check', path, version: request.int() };
    default:
      throw new Error(`opcode ${opcode} is not known here`);
  }
}

function writeStat(answer: JuteWriter, stat: NodeStat): JuteWriter {
  answer.long(BigInt(stat.czxid)).long(BigInt(stat.mzxid)).long(BigInt(stat.createdMs)).long(BigInt(stat.modifiedMs));
  answer.int(stat.version).int(stat.cversion).int(stat.aversion).long(stat.ephemeralOwner);
  return answer.int(stat.dataSize).int(stat.numChildren).long(BigInt(stat.pzxid));
}
