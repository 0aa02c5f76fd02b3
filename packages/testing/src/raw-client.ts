// The plainest possible client: one socket, one request after another as the test words it, each answer decoded. It never
// negotiates, retries or hides anything, so that a test can also send what no decent client would.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  apiByKey,
  codecFor,
  encodeMessage,
  FrameCutter,
  frame,
  type Message,
  type MessageDefinition,
  type MessageInit,
  Reader,
  RequestHeader,
  ResponseHeader,
} from '@odradek/protocol';

/** The connection ended while an answer was awaited, or before the request was sent. */
export class ConnectionClosedError extends Error {}

export interface RawClientOptions {
  readonly host?: string;
  readonly port: number;
  /** Which address of this machine the broker sees; the system's choice without one. */
  readonly localAddress?: string;
  readonly clientId?: string | null;
  /** An answer that takes longer fails the request. */
  readonly timeoutMs?: number;
}

interface Pending {
  resolve(body: Buffer): void;
  reject(error: Error): void;
  readonly timeout: NodeJS.Timeout;
}

const maxResponseBytes = 256 * 1024 * 1024;

export class RawClient {
  readonly socket: Socket;
  /** Settles when the connection has ended, whoever ended it. */
  readonly closed: Promise<void>;
  readonly #clientId: string | null;
  readonly #timeoutMs: number;
  readonly #cutter = new FrameCutter(maxResponseBytes);
  readonly #pending: Pending[] = [];
  #correlationId = 0;

  private constructor(socket: Socket, options: RawClientOptions) {
    this.socket = socket;
    this.#clientId = options.clientId === undefined ? 'raw-client' : options.clientId;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#failAll(new ConnectionClosedError('the broker closed the connection'));
        resolve();
      });
    });
    // What went wrong matters less than that the connection is gone, which `close` says.
    socket.on('error', (error) => this.#failAll(new ConnectionClosedError('the connection broke', { cause: error })));
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  static async connect(options: RawClientOptions): Promise<RawClient> {
    const { host = '127.0.0.1', port, localAddress } = options;
    const socket = connect({ host, port, noDelay: true, ...(localAddress === undefined ? {} : { localAddress }) });
    await once(socket, 'connect');
    return new RawClient(socket, options);
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  /** Sends a request and gives the decoded answer. */
  async send<Q extends MessageDefinition, A extends MessageDefinition>(
    request: Q,
    response: A,
    version: number,
    message: MessageInit<Q>,
  ): Promise<Message<A>> {
    const api = apiByKey(request.apiKey ?? -1);
    if (api === undefined) {
      throw new Error(`${request.name} is not the request of an API`);
    }
    const correlationId = this.#correlationId + 1;
    const body = await this.exchange(this.#request(request, version, message));
    const reader = new Reader(body);
    const header = codecFor(ResponseHeader, api.responseHeaderVersion(version)).read(reader);
    if (header.correlationId !== correlationId) {
      throw new Error(`the answer belongs to request ${header.correlationId}, not to ${correlationId}`);
    }
    return codecFor(response, version).read(reader);
  }

  /** Sends a request that gets no answer, such as a Produce with acks=0. */
  sendOneWay<Q extends MessageDefinition>(request: Q, version: number, message: MessageInit<Q>): void {
    this.write(frame(this.#request(request, version, message)));
  }

  /** Sends a frame as it is (its size is put before it) and gives the body of the next answer, from the correlation id on. */
  exchange(chunks: readonly Buffer[]): Promise<Buffer> {
    const answer = this.nextAnswer();
    this.write(frame(chunks));
    return answer;
  }

  /** The body of the next answer to come, after those that are awaited already. */
  nextAnswer(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) {
        reject(new ConnectionClosedError('the connection is closed'));
        return;
      }
      const timeout = setTimeout(() => reject(new Error(`no answer in ${this.#timeoutMs} ms`)), this.#timeoutMs);
      this.#pending.push({ resolve, reject, timeout });
    });
  }

  /** Puts bytes on the wire with nothing added. */
  write(chunks: readonly Buffer[]): void {
    this.socket.cork();
    for (const chunk of chunks) {
      this.socket.write(chunk);
    }
    this.socket.uncork();
  }

  async close(): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #request<Q extends MessageDefinition>(request: Q, version: number, message: MessageInit<Q>): Buffer[] {
    const api = apiByKey(request.apiKey ?? -1);
    if (api === undefined) {
      throw new Error(`${request.name} is not the request of an API`);
    }
    this.#correlationId += 1;
    const headerVersion = api.requestHeaderVersion(version);
    const header = {
      requestApiKey: api.key,
      requestApiVersion: version,
      correlationId: this.#correlationId,
      ...(headerVersion === 0 ? {} : { clientId: this.#clientId }),
    };
    return [...encodeMessage(RequestHeader, headerVersion, header), ...encodeMessage(request, version, message)];
  }

  #take(chunk: Buffer): void {
    this.#cutter.add(chunk);
    for (let body = this.#cutter.next(); body !== null; body = this.#cutter.next()) {
      const pending = this.#pending.shift();
      if (pending === undefined) {
        this.socket.destroy(new Error('an answer came that nobody asked for'));
        return;
      }
      clearTimeout(pending.timeout);
      pending.resolve(body);
    }
  }

  #failAll(error: Error): void {
    for (const pending of this.#pending.splice(0)) {
      clearTimeout(pending.timeout);
      pending.reject(error);
    }
  }
}
