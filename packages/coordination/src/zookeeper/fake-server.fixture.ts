// A ZooKeeper server that does what a test tells it, for what real ones do only by bad luck, or never.

import type { ByteStream, Listener, Network } from '@odradek/runtime';
import { FrameReader } from './frame-reader.ts';
import { JuteReader, JuteWriter } from './jute.ts';

export interface FakeGreeting {
  readonly lastZxid: bigint;
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: string;
}

export interface FakeRequest {
  readonly xid: number;
  readonly opcode: number;
  readonly body: JuteReader;
}

export const opcodeNames: Readonly<Record<number, string>> = {
  [-11]: 'close',
  2: 'delete',
  3: 'exists',
  4: 'get',
  5: 'set',
  9: 'sync',
  11: 'ping',
  12: 'children',
  14: 'multi',
  15: 'create',
  100: 'auth',
  101: 'setWatches',
  102: 'sasl',
};

/** One accepted connection, seen from the server. */
export class FakeConnection {
  readonly stream: ByteStream;

  constructor(stream: ByteStream) {
    this.stream = stream;
  }

  /** Any bytes at all. */
  sendRaw(bytes: Uint8Array): void {
    this.stream.write([Buffer.from(bytes)]);
  }

  send(payload: Uint8Array): void {
    const size = Buffer.alloc(4);
    size.writeInt32BE(payload.byteLength);
    this.sendRaw(Buffer.concat([size, payload]));
  }

  greet(sessionId: bigint, timeoutMs: number, password = 'secret'): void {
    this.send(new JuteWriter().int(0).int(timeoutMs).long(sessionId).buffer(Buffer.from(password)).boolean(false).finish());
  }

  answer(xid: number, zxid: number, error = 0, body: Uint8Array = Buffer.alloc(0)): void {
    this.send(Buffer.concat([new JuteWriter().int(xid).long(BigInt(zxid)).int(error).finish(), body]));
  }

  /** 1 created, 2 deleted, 3 data changed, 4 children changed. */
  notify(type: number, path: string): void {
    this.answer(-1, -1, 0, new JuteWriter().int(type).int(3).string(path).finish());
  }

  close(): void {
    this.stream.destroy();
  }
}

/** What the server does. The defaults are those of a healthy server that knows nothing. */
export interface FakeBehaviour {
  connected?(connection: FakeConnection, greeting: FakeGreeting): void;
  /** Pings are answered before this is asked, unless `answersPings` is false. */
  asked?(connection: FakeConnection, request: FakeRequest): void;
}

export class FakeServer {
  behaviour: FakeBehaviour = {};
  answersPings = true;
  zxid = 1;
  /** What came: `connect 0x0`, `get`, `ping`, … */
  readonly heard: string[] = [];
  readonly greetings: FakeGreeting[] = [];
  connections: FakeConnection[] = [];
  #listener: Listener | undefined;

  async listen(network: Network, host: string, port: number): Promise<void> {
    this.#listener = await network.listen({ host, port }, (stream) => {
      const connection = new FakeConnection(stream);
      this.connections.push(connection);
      let isGreeted = false;
      const frames = new FrameReader(1024 * 1024, {
        take: (frame) => {
          const reader = new JuteReader(frame);
          if (isGreeted) this.#asked(connection, reader);
          else {
            isGreeted = true;
            this.#connected(connection, reader);
          }
        },
        takeOversize: () => connection.close(),
      });
      const forget = (): void => {
        this.connections = this.connections.filter((other) => other !== connection);
      };
      return { onData: (chunk) => frames.push(chunk), onDrain: () => undefined, onEnd: () => connection.close(), onClose: forget };
    });
  }

  /** The newest connection. */
  get connection(): FakeConnection {
    return this.connections.at(-1)!;
  }

  /** No longer there: connections are cut, new ones refused. */
  async stop(): Promise<void> {
    await this.#listener?.close();
    for (const connection of this.connections) connection.close();
  }

  #connected(connection: FakeConnection, reader: JuteReader): void {
    reader.int();
    const lastZxid = reader.long();
    const timeoutMs = reader.int();
    const sessionId = reader.long();
    const password = (reader.buffer() ?? '').toString();
    const greeting = { lastZxid, timeoutMs, sessionId, password };
    this.greetings.push(greeting);
    this.heard.push(`connect 0x${sessionId.toString(16)}`);
    if (this.behaviour.connected !== undefined) this.behaviour.connected(connection, greeting);
    else connection.greet(sessionId === 0n ? 0x5eedn : sessionId, timeoutMs);
  }

  #asked(connection: FakeConnection, body: JuteReader): void {
    const request = { xid: body.int(), opcode: body.int(), body };
    const name = opcodeNames[request.opcode] ?? String(request.opcode);
    this.heard.push(name);
    if (name === 'ping' && this.answersPings) connection.answer(-2, this.zxid);
    else if (this.behaviour.asked !== undefined) this.behaviour.asked(connection, request);
    else if (name !== 'ping') connection.answer(request.xid, this.zxid);
  }
}

/** A stat whose numbers are all different. */
export function statBytes(): Buffer {
  return new JuteWriter().long(1n).long(2n).long(3n).long(4n).int(5).int(6).int(7).long(0x5eedn).int(9).int(10).long(11n).finish();
}
