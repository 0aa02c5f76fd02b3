// A client in the simulated world: one stream to the broker at a time, one request after another. Whatever goes wrong on the way is one
// kind of failure, after which the next request opens a new stream.

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
import type { ByteStream, World } from '@odradek/runtime';

/** No answer: refused, cut, or too late. The request may have been carried out all the same. */
export class NoAnswerError extends Error {}

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

interface Waiting {
  readonly take: (body: Buffer) => void;
  readonly fail: (error: Error) => void;
}

const answerTimeoutMs = 2_000;
const maxAnswerBytes = 16 * 1024 * 1024;

export class SimulatedClient {
  readonly #world: World;
  readonly #broker: BrokerAddress;
  #stream: ByteStream | undefined = undefined;
  #waiting: Waiting | undefined = undefined;
  #correlationId = 0;

  constructor(world: World, broker: BrokerAddress) {
    this.#world = world;
    this.#broker = broker;
  }

  async send<Q extends MessageDefinition, A extends MessageDefinition>(
    request: Q,
    response: A,
    version: number,
    message: MessageInit<Q>,
  ): Promise<Message<A>> {
    const api = apiByKey(request.apiKey ?? -1)!;
    const stream = this.#stream ?? (await this.#connect());
    const header = {
      requestApiKey: api.key,
      requestApiVersion: version,
      correlationId: ++this.#correlationId,
      clientId: 'simulated',
    };
    const body = await new Promise<Buffer>((resolve, reject) => {
      const timeout = this.#world.timer.schedule(answerTimeoutMs, () => stream.destroy(new Error('no answer in time')));
      this.#waiting = {
        take: (answer) => {
          timeout.cancel();
          resolve(answer);
        },
        fail: (error) => {
          timeout.cancel();
          reject(new NoAnswerError(`no answer to ${request.name}`, { cause: error }));
        },
      };
      stream.write(
        frame([
          ...encodeMessage(RequestHeader, api.requestHeaderVersion(version), header),
          ...encodeMessage(request, version, message),
        ]),
      );
    });
    const reader = new Reader(body);
    codecFor(ResponseHeader, api.responseHeaderVersion(version)).read(reader);
    return codecFor(response, version).read(reader);
  }

  close(): void {
    this.#stream?.destroy();
  }

  async #connect(): Promise<ByteStream> {
    try {
      this.#stream = await this.#world.network.connect({ ...this.#broker, timeoutMs: answerTimeoutMs }, (stream) => {
        const cutter = new FrameCutter(maxAnswerBytes);
        return {
          onData: (chunk) => {
            cutter.add(Buffer.from(chunk));
            for (let body = cutter.next(); body !== null; body = cutter.next()) {
              this.#settle((waiting) => waiting.take(body!));
            }
          },
          onDrain: () => undefined,
          onEnd: () => stream.destroy(new Error('the broker ended the stream')),
          onClose: (error) => {
            this.#stream = undefined;
            this.#settle((waiting) => waiting.fail(error ?? new Error('the stream closed')));
          },
        };
      });
      return this.#stream;
    } catch (error) {
      throw new NoAnswerError('no connection', { cause: error });
    }
  }

  #settle(how: (waiting: Waiting) => void): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) {
      how(waiting);
    }
  }
}
