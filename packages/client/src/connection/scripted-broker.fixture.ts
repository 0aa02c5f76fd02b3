// A broker of a simulated network that answers as a test says: it knows ApiVersions itself, and gives every other request to the test.

import {
  ApiVersionsRequest,
  ApiVersionsResponse,
  apiByKey,
  codecFor,
  decodeMessage,
  encodeMessage,
  errorCodes,
  FrameCutter,
  frame,
  type Message,
  type MessageDefinition,
  type MessageInit,
  Reader,
  RequestHeader,
  type VersionRange,
} from '@odradek/protocol';
import type { ByteStream, StreamReceiver } from '@odradek/runtime';
import type { SimulatedMachine } from '@odradek/testing';

/** One request as it arrived. */
export interface Received {
  readonly apiKey: number;
  readonly version: number;
  readonly correlationId: number;
  readonly body: Buffer;
  decode<Q extends MessageDefinition>(definition: Q): Message<Q>;
  answer<A extends MessageDefinition>(definition: A, message: MessageInit<A>, correlationId?: number): void;
  /** The stream that it came by, to do with it what no decent broker would. */
  readonly stream: ByteStream;
}

export interface ScriptedBrokerOptions {
  readonly port?: number;
  readonly apiVersions?: VersionRange;
  /** Whether a refusal of ApiVersions lists the versions, as since Kafka 2.4. */
  readonly listsVersionsInRefusal?: boolean;
  readonly apiVersionsError?: number;
  /** By API key; others are served in all versions. */
  readonly served?: ReadonlyMap<number, VersionRange>;
  readonly onRequest?: (request: Received) => void;
  readonly onConnect?: (stream: ByteStream) => void;
}

export class ScriptedBroker {
  readonly machine: SimulatedMachine;
  readonly received: Received[] = [];
  readonly options: ScriptedBrokerOptions;
  connections = 0;

  private constructor(machine: SimulatedMachine, options: ScriptedBrokerOptions) {
    this.machine = machine;
    this.options = options;
  }

  static async start(machine: SimulatedMachine, options: ScriptedBrokerOptions = {}): Promise<ScriptedBroker> {
    const broker = new ScriptedBroker(machine, options);
    await machine.network.listen({ host: machine.name, port: options.port ?? 9092 }, (stream) => broker.#accept(stream));
    return broker;
  }

  /** The versions in which ApiVersions was asked. */
  get askedVersions(): number[] {
    return this.received.filter(({ apiKey }) => apiKey === ApiVersionsRequest.apiKey).map(({ version }) => version);
  }

  #accept(stream: ByteStream): StreamReceiver {
    this.connections += 1;
    this.options.onConnect?.(stream);
    const cutter = new FrameCutter(1 << 30, (size) => Buffer.alloc(size));
    return {
      onData: (chunk) => {
        cutter.add(chunk);
        for (let bytes = cutter.next(); bytes !== null; bytes = cutter.next()) this.#take(bytes, stream);
      },
      onDrain: () => undefined,
      onEnd: () => stream.end(),
      onClose: () => undefined,
    };
  }

  #take(bytes: Buffer, stream: ByteStream): void {
    const [apiKey, version] = [bytes.readInt16BE(0), bytes.readInt16BE(2)];
    const api = apiByKey(apiKey);
    if (api === undefined) throw new Error(`There is no API ${apiKey}`);
    const reader = new Reader(bytes);
    const { correlationId } = codecFor(RequestHeader, api.requestHeaderVersion(version)).read(reader);
    const body = bytes.subarray(reader.position);
    const request: Received = {
      apiKey,
      version,
      correlationId,
      body,
      stream,
      decode: (definition) => decodeMessage(definition, version, body),
      answer: (definition, message, id = correlationId) => {
        const header = Buffer.alloc(4 + api.responseHeaderVersion(version));
        header.writeInt32BE(id);
        stream.write(frame([header, ...encodeMessage(definition, version, message)]));
      },
    };
    this.received.push(request);
    if (apiKey === ApiVersionsRequest.apiKey) this.#answerVersions(request);
    else this.options.onRequest?.(request);
  }

  #answerVersions(request: Received): void {
    const { apiVersions = ApiVersionsRequest.versions, listsVersionsInRefusal = true, served } = this.options;
    const own = { apiKey: 18, minVersion: apiVersions.min, maxVersion: apiVersions.max };
    if (request.version > apiVersions.max) {
      const header = Buffer.alloc(4);
      header.writeInt32BE(request.correlationId);
      const apiKeys = listsVersionsInRefusal ? [own] : [];
      const refusal = encodeMessage(ApiVersionsResponse, 0, { errorCode: errorCodes.UNSUPPORTED_VERSION, apiKeys });
      request.stream.write(frame([header, ...refusal]));
      return;
    }
    const apiKeys = [...Array(95).keys()].flatMap((apiKey) => {
      const range = served?.get(apiKey) ?? apiByKey(apiKey)?.versions;
      return range === undefined ? [] : [{ apiKey, minVersion: range.min, maxVersion: range.max }];
    });
    request.answer(ApiVersionsResponse, { errorCode: this.options.apiVersionsError ?? errorCodes.NONE, apiKeys });
  }
}
