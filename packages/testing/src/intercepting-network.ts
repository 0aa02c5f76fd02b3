// A network that shows a test the requests that go out over it. A request that a test has asked for is decoded and handed to it: to be
// sent on, now or later, to be answered in place of whom it was for, or never to arrive.

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
import type { ByteStream, Listener, Network, StreamReceiver } from '@odradek/runtime';

export interface InterceptedRequest {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly clientId: string | null;
  readonly port: number;
  /** Decoded in its version. */
  readonly request: Message<MessageDefinition>;
  /** Lets it go on. What it does meanwhile, the connection's next requests wait for. */
  forward(): void;
  /** Answers in place of the receiver, which hears nothing. */
  answer(response: MessageInit<MessageDefinition>): void;
  /** Neither the receiver nor the sender ever hears of it. */
  drop(): void;
}

export type Interceptor = (request: InterceptedRequest) => void;

const maxFrameBytes = 256 * 1024 * 1024;

export class InterceptingNetwork implements Network {
  readonly #network: Network;
  /** Asked for each request; undefined: nobody wants to see it. */
  readonly #interceptorOf: (apiKey: number) => Interceptor | undefined;
  readonly #onListen: (port: number) => void;
  readonly #streams = new Set<ByteStream>();
  #isCut = false;

  constructor(
    network: Network,
    interceptorOf: (apiKey: number) => Interceptor | undefined,
    onListen: (port: number) => void = () => undefined,
  ) {
    this.#network = network;
    this.#interceptorOf = interceptorOf;
    this.#onListen = onListen;
  }

  /** Nothing comes in or goes out any more. */
  cut(): void {
    this.#isCut = true;
    for (const stream of this.#streams) stream.destroy();
  }

  async listen(options: Parameters<Network['listen']>[0], accept: (stream: ByteStream) => StreamReceiver): Promise<Listener> {
    const listener = await this.#network.listen(options, (stream) => this.#track(stream, accept(stream)));
    this.#onListen(listener.port);
    return listener;
  }

  async connect(options: Parameters<Network['connect']>[0], receiver: (stream: ByteStream) => StreamReceiver): Promise<ByteStream> {
    if (this.#isCut) throw new Error('The network is cut');
    const seen = Promise.withResolvers<ByteStream>();
    await this.#network.connect(options, (stream) => {
      const intercepted = new InterceptedStream(stream, this.#interceptorOf);
      seen.resolve(intercepted);
      return this.#track(stream, intercepted.receive(receiver(intercepted)));
    });
    return seen.promise;
  }

  #track(stream: ByteStream, receiver: StreamReceiver): StreamReceiver {
    if (this.#isCut) setImmediate(() => stream.destroy());
    this.#streams.add(stream);
    return {
      onData: (chunk) => receiver.onData(chunk),
      onDrain: () => receiver.onDrain(),
      onEnd: () => receiver.onEnd(),
      onClose: (error) => {
        this.#streams.delete(stream);
        receiver.onClose(error);
      },
    };
  }
}

/** One connection on the sender's side. Requests leave, and answers arrive, in their order. */
class InterceptedStream implements ByteStream {
  readonly #stream: ByteStream;
  readonly #interceptorOf: (apiKey: number) => Interceptor | undefined;
  readonly #cutter = new FrameCutter(maxFrameBytes);
  #receiver: StreamReceiver | undefined;
  /** Frames behind one that is held. */
  #waiting: Buffer[] = [];
  #isHolding = false;

  constructor(stream: ByteStream, interceptorOf: (apiKey: number) => Interceptor | undefined) {
    this.#stream = stream;
    this.#interceptorOf = interceptorOf;
  }

  receive(receiver: StreamReceiver): StreamReceiver {
    this.#receiver = receiver;
    return receiver;
  }

  get remoteAddress(): string {
    return this.#stream.remoteAddress;
  }

  get remotePort(): number {
    return this.#stream.remotePort;
  }

  get localAddress(): string {
    return this.#stream.localAddress;
  }

  get localPort(): number {
    return this.#stream.localPort;
  }

  get bufferedBytes(): number {
    return this.#stream.bufferedBytes;
  }

  write(chunks: readonly Uint8Array[]): boolean {
    let hasRoom = true;
    for (const chunk of chunks) {
      this.#cutter.add(Buffer.from(chunk));
      for (let request = this.#cutter.next(); request !== null; request = this.#cutter.next()) {
        if (this.#isHolding) this.#waiting.push(request);
        else hasRoom = this.#send(request);
      }
    }
    return hasRoom;
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  end(): void {
    this.#stream.end();
  }

  destroy(error?: Error): void {
    this.#waiting = [];
    this.#stream.destroy(error);
  }

  #send(request: Buffer): boolean {
    const apiKey = request.readInt16BE(0);
    const interceptor = this.#interceptorOf(apiKey);
    if (interceptor === undefined) return this.#stream.write(frame([request]));
    this.#isHolding = true;
    interceptor(this.#shown(apiKey, request));
    return true;
  }

  #shown(apiKey: number, request: Buffer): InterceptedRequest {
    const api = apiByKey(apiKey);
    if (api === undefined) throw new Error(`There is no API with the key ${apiKey}`);
    const apiVersion = request.readInt16BE(2);
    const reader = new Reader(request);
    const { clientId, correlationId } = codecFor(RequestHeader, api.requestHeaderVersion(apiVersion)).read(reader);
    return {
      apiKey,
      apiVersion,
      clientId,
      port: this.#stream.remotePort,
      request: codecFor(api.request, apiVersion).read(reader),
      forward: () => this.#goOn(() => void this.#stream.write(frame([request]))),
      answer: (response) =>
        this.#goOn(() => {
          const header = encodeMessage(ResponseHeader, api.responseHeaderVersion(apiVersion), { correlationId });
          const bytes = Buffer.concat(frame([...header, ...encodeMessage(api.response, apiVersion, response)]));
          // As if it had come over the network: not within the call that sent the request.
          setImmediate(() => this.#receiver?.onData(bytes));
        }),
      drop: () => this.#goOn(() => undefined),
    };
  }

  #goOn(act: () => void): void {
    if (!this.#isHolding) return;
    act();
    this.#isHolding = false;
    while (!this.#isHolding) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#send(next);
    }
  }
}
