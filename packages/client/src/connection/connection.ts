// One connection to a broker: requests out, answers in, in the same order.
//
// Several requests may be under way. An answer that does not come in time ends the connection, because those behind it could not come
// either; so does anything that is no answer. What is held is bounded: the size of an answer, and the number of requests under way.
//
// Record batches are not copied on their way out, and once on their way in: an answer's records are slices of the frame that its
// chunks were gathered in. Whoever is done with them may give the frame back (`release`), so that the next answer can use it.

import {
  type Api,
  ApiVersionsRequest,
  apiByKey,
  codecFor,
  encodeMessage,
  FrameCutter,
  frame,
  intersectVersions,
  type Message,
  type MessageDefinition,
  type MessageInit,
  Reader,
  RequestHeader,
  ResponseHeader,
  type VersionRange,
  versionsContain,
} from '@odradek/protocol';
import type { BufferPool, ByteStream, Network, StreamReceiver, Timer, TimerTask } from '@odradek/runtime';
import { ConnectionError } from './connection-error.ts';
import { askForVersions, type ServedVersions } from './served-versions.ts';

/** A request and what answers it: `{ request: FetchRequest, response: FetchResponse }`. */
export interface Exchange<Q extends MessageDefinition, A extends MessageDefinition> {
  readonly request: Q;
  readonly response: A;
}

/** What to send; a function where it depends on the version. */
export type RequestInit<Q extends MessageDefinition> = MessageInit<Q> | ((version: number) => MessageInit<Q>);

export interface SendOptions {
  /** Exactly this version. The highest that both sides speak where left out. */
  readonly version?: number;
  /** No version beyond this. */
  readonly maxVersion?: number;
  /** In place of the connection's own. */
  readonly timeoutMs?: number;
}

export interface Answer<A extends MessageDefinition> {
  readonly version: number;
  readonly message: Message<A>;
  /** Nothing refers to the bytes of the message any more. To be called at most once. */
  release(): void;
}

/**
 * What must be done before anybody else may use the connection: to say who we are, for instance. It comes after the question for the
 * versions. (Encryption comes before both: it is a matter of the Network that the stream is opened over.)
 */
export type Handshake = (connection: Connection) => Promise<void>;

export interface ConnectionParts {
  readonly network: Network;
  readonly timer: Timer;
  /** Where large answers are gathered. */
  readonly framePool?: BufferPool;
}

export interface ConnectionOptions {
  readonly clientId: string | null;
  readonly softwareName?: string;
  readonly softwareVersion?: string;
  /** Given with the address's `nodeId`: whoever answers must belong to this cluster, if it knows how to check that. */
  readonly clusterId?: string;
  /** Default 10 s, as Kafka's first attempt. */
  readonly connectTimeoutMs?: number;
  /** Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** Default 256 MiB. */
  readonly maxResponseBytes?: number;
  /** Default 256. One more is refused. */
  readonly maxInFlight?: number;
  readonly handshake?: Handshake;
}

export interface ConnectionAddress {
  readonly host: string;
  readonly port: number;
  /** Given with `clusterId`: whoever answers must be this broker, if it knows how to check that. */
  readonly nodeId?: number;
}

/** A request that waits for its answer. */
interface InFlight {
  readonly api: Api;
  readonly version: number;
  readonly correlationId: number;
  readonly timeout: TimerTask;
  /** Takes the frame, whose body begins where the reader stands. Throws when it cannot be read. */
  readonly take: (frame: Buffer, reader: Reader) => void;
  readonly reject: (error: ConnectionError) => void;
}

const largestInt32 = 0x7fff_ffff;

export class Connection {
  readonly address: ConnectionAddress;
  /** Settles with the reason when the connection has ended. */
  readonly closed: Promise<ConnectionError>;
  readonly #parts: ConnectionParts;
  readonly #options: ConnectionOptions;
  readonly #stream: ByteStream;
  readonly #frames: FrameCutter;
  readonly #inFlight: InFlight[] = [];
  readonly #settleClosed: (reason: ConnectionError) => void;
  #served: ServedVersions = new Map();
  #correlationId = 0;
  #peerIsSlow = false;
  #closeReason: ConnectionError | undefined;

  private constructor(stream: ByteStream, address: ConnectionAddress, parts: ConnectionParts, options: ConnectionOptions) {
    this.#stream = stream;
    this.address = address;
    this.#parts = parts;
    this.#options = options;
    const { framePool } = parts;
    const allocate = (size: number): Buffer => framePool?.take(size) ?? Buffer.allocUnsafe(size);
    this.#frames = new FrameCutter(options.maxResponseBytes ?? 256 * 1024 * 1024, allocate);
    const closed = Promise.withResolvers<ConnectionError>();
    this.closed = closed.promise;
    this.#settleClosed = closed.resolve;
  }

  /** Connects, asks for the versions and shakes hands. Rejects with a ConnectionError, or with what the handshake throws. */
  static async open(address: ConnectionAddress, parts: ConnectionParts, options: ConnectionOptions): Promise<Connection> {
    const { host, port } = address;
    const opened = Promise.withResolvers<Connection>();
    const receiver = (stream: ByteStream): StreamReceiver => {
      const connection = new Connection(stream, address, parts, options);
      opened.resolve(connection);
      return connection.#receiver();
    };
    try {
      await parts.network.connect({ host, port, timeoutMs: options.connectTimeoutMs ?? 10_000 }, receiver);
    } catch (error) {
      throw new ConnectionError('unreachable', `No connection to ${host}:${port}`, { cause: error });
    }
    const connection = await opened.promise;
    try {
      await connection.#negotiate();
      await options.handshake?.(connection);
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  get isClosed(): boolean {
    return this.#closeReason !== undefined;
  }

  /** Requests that wait for their answers. */
  get inFlightCount(): number {
    return this.#inFlight.length;
  }

  /** Whether one more request may be sent, and what was sent before has left. */
  get hasRoom(): boolean {
    return !this.isClosed && !this.#peerIsSlow && this.#inFlight.length < this.#maxInFlight;
  }

  /** What both sides speak; empty (`max < min`) where they have nothing in common. */
  versions(exchange: { readonly request: MessageDefinition }): VersionRange {
    const { key, stableVersions } = apiOf(exchange.request);
    return intersectVersions(this.#served.get(key) ?? { min: 0, max: -1 }, stableVersions);
  }

  /** The version that a request would be sent in. Throws a ConnectionError where there is none. */
  version(exchange: { readonly request: MessageDefinition }, options: SendOptions = {}): number {
    const { name } = exchange.request;
    const { version, maxVersion } = options;
    const { host, port } = this.address;
    if (version !== undefined) {
      const served = this.#served.get(apiOf(exchange.request).key);
      if (served !== undefined && versionsContain(served, version)) return version;
      throw new ConnectionError('unsupportedVersion', `${host}:${port} does not speak version ${version} of ${name}`);
    }
    const { min, max } = this.versions(exchange);
    const highest = maxVersion === undefined ? max : Math.min(max, maxVersion);
    if (highest < min || highest < 0) {
      throw new ConnectionError('unsupportedVersion', `${host}:${port} speaks no version of ${name} that could be used`);
    }
    return highest;
  }

  /** Sends a request and gives the answer's message. Rejects with a ConnectionError. */
  async send<Q extends MessageDefinition, A extends MessageDefinition>(
    exchange: Exchange<Q, A>,
    request: RequestInit<Q>,
    options?: SendOptions,
  ): Promise<Message<A>> {
    return (await this.ask(exchange, request, options)).message;
  }

  /** As `send`, for whoever must know the version, or gives the frame back. */
  ask<Q extends MessageDefinition, A extends MessageDefinition>(
    exchange: Exchange<Q, A>,
    request: RequestInit<Q>,
    options: SendOptions = {},
  ): Promise<Answer<A>> {
    return new Promise((resolve, reject) => {
      const version = this.version(exchange, options);
      const init = typeof request === 'function' ? request(version) : request;
      const codec = codecFor(exchange.response, version);
      const take = (bytes: Buffer, reader: Reader): void => {
        const message = codec.read(reader);
        resolve({ version, message, release: () => this.#parts.framePool?.give(bytes) });
      };
      this.#sendInOrder(exchange.request, version, init, options.timeoutMs, take, reject);
    });
  }

  /** Sends a request that gets no answer: a Produce with acks=0. Throws a ConnectionError when it cannot be sent. */
  sendOneWay<Q extends MessageDefinition>(definition: Q, request: RequestInit<Q>, options: SendOptions = {}): void {
    const version = this.version({ request: definition }, options);
    this.#ensureOpen();
    this.#write(this.#encode(definition, version, typeof request === 'function' ? request(version) : request));
  }

  /** Ends the connection; requests under way are rejected with the reason. */
  close(reason = new ConnectionError('closed', 'The connection was closed on this side')): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#stream.destroy();
    for (const { timeout, reject } of this.#inFlight.splice(0)) {
      timeout.cancel();
      reject(reason.fault === 'closed' ? reason : new ConnectionError('closed', reason.message, { cause: reason }));
    }
    this.#settleClosed(reason);
  }

  get #maxInFlight(): number {
    return this.#options.maxInFlight ?? 256;
  }

  async #negotiate(): Promise<void> {
    const { softwareName = 'odradek', softwareVersion = '0.1.0', clusterId } = this.#options;
    const question = { softwareName, softwareVersion, clusterId, nodeId: this.address.nodeId };
    this.#served = await askForVersions(question, (version, request) => {
      return new Promise((resolve, reject) => {
        const take = (bytes: Buffer, reader: Reader): void => resolve(bytes.subarray(reader.position));
        this.#sendInOrder(ApiVersionsRequest, version, request, undefined, take, reject);
      });
    });
  }

  #sendInOrder<Q extends MessageDefinition>(
    definition: Q,
    version: number,
    request: MessageInit<Q>,
    timeoutMs: number | undefined,
    take: InFlight['take'],
    reject: InFlight['reject'],
  ): void {
    this.#ensureOpen();
    if (this.#inFlight.length >= this.#maxInFlight) {
      throw new ConnectionError('busy', `${this.#inFlight.length} requests to ${this.#name} wait for their answers`);
    }
    const chunks = this.#encode(definition, version, request);
    const correlationId = this.#correlationId;
    const waitMs = timeoutMs ?? this.#options.requestTimeoutMs ?? 30_000;
    const timeout = this.#parts.timer.schedule(waitMs, () => this.#timeOut(correlationId, waitMs));
    this.#inFlight.push({ api: apiOf(definition), version, correlationId, timeout, take, reject });
    this.#write(chunks);
  }

  #encode<Q extends MessageDefinition>(definition: Q, version: number, request: MessageInit<Q>): Buffer[] {
    const api = apiOf(definition);
    this.#correlationId = this.#correlationId === largestInt32 ? 0 : this.#correlationId + 1;
    const header = {
      requestApiKey: api.key,
      requestApiVersion: version,
      correlationId: this.#correlationId,
      clientId: this.#options.clientId,
    };
    return [
      ...encodeMessage(RequestHeader, api.requestHeaderVersion(version), header),
      ...encodeMessage(definition, version, request),
    ];
  }

  #write(chunks: Buffer[]): void {
    if (!this.#stream.write(frame(chunks))) this.#peerIsSlow = true;
  }

  #ensureOpen(): void {
    const reason = this.#closeReason;
    if (reason !== undefined) throw new ConnectionError('closed', `The connection to ${this.#name} is closed`, { cause: reason });
  }

  #timeOut(correlationId: number, waitMs: number): void {
    const index = this.#inFlight.findIndex((request) => request.correlationId === correlationId);
    const [late] = this.#inFlight.splice(index, 1);
    if (index < 0 || late === undefined) return;
    const error = new ConnectionError('timedOut', `${this.#name} did not answer ${late.api.name} within ${waitMs} ms`);
    late.reject(error);
    this.close(error);
  }

  #receiver(): StreamReceiver {
    return {
      onData: (chunk) => this.#take(chunk),
      onDrain: () => {
        this.#peerIsSlow = false;
      },
      onEnd: () => this.close(new ConnectionError('closed', `${this.#name} closed the connection`)),
      onClose: (error) => {
        this.close(
          new ConnectionError('closed', `The connection to ${this.#name} broke`, error === undefined ? {} : { cause: error }),
        );
      },
    };
  }

  #take(chunk: Buffer): void {
    if (this.isClosed) return;
    try {
      this.#frames.add(chunk);
      for (let bytes = this.#frames.next(); bytes !== null; bytes = this.#frames.next()) {
        this.#answer(bytes);
        if (this.isClosed) return;
      }
    } catch (error) {
      this.close(new ConnectionError('malformed', `What ${this.#name} sent cannot be read`, { cause: error }));
    }
  }

  #answer(bytes: Buffer): void {
    const request = this.#inFlight[0];
    if (request === undefined) throw new Error('An answer came that nobody asked for');
    const { api, version, correlationId, timeout, take } = request;
    const reader = new Reader(bytes);
    const header = codecFor(ResponseHeader, api.responseHeaderVersion(version)).read(reader);
    if (header.correlationId !== correlationId) {
      throw new Error(`The answer belongs to request ${header.correlationId}, not to ${correlationId}`);
    }
    take(bytes, reader);
    timeout.cancel();
    this.#inFlight.shift();
  }

  get #name(): string {
    return `${this.address.host}:${this.address.port}`;
  }
}

function apiOf(request: MessageDefinition): Api {
  const api = apiByKey(request.apiKey ?? -1);
  if (api === undefined) throw new Error(`${request.name} is not the request of an API`);
  return api;
}
