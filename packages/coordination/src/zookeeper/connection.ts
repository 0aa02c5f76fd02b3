// One connection to one server: the greeting, then requests and their answers, which come in the order of the requests, and between
// them notifications of watches and the answers to pings. It ends once, and then everything that was under way has been lost.

import type { ByteStream, Clock, Network, StreamReceiver, Timer } from '@odradek/runtime';
import { CoordinationError } from '../coordination.ts';
import { formatAddress, type ServerAddress } from './connect-string.ts';
import { FrameReader } from './frame-reader.ts';
import { InvalidAnswerError, JuteReader } from './jute.ts';
import {
  answeredError,
  authFrame,
  type ConnectAnswer,
  type ConnectRequest,
  connectFrame,
  type Notification,
  pingFrame,
  type Request,
  readAnswerHeader,
  readConnectAnswer,
  readNotification,
  xidPosition,
  xids,
} from './requests.ts';

/** A request on its way. Exactly one of `answer` and `fail` is called. */
export interface Call {
  /** As the caller knows it, for errors. */
  readonly path: string;
  readonly frame: Buffer;
  /** Throws InvalidAnswerError when the answer cannot be read; then `fail` follows. */
  answer(error: number, body: JuteReader): void;
  /** With ConnectionLoss: the connection has ended, and what was asked may have taken effect or not. */
  fail(error: CoordinationError): void;
}

export interface ConnectionListener {
  notified(notification: Notification): void;
  /** After each answer to a call. */
  answered(zxid: number, error: number): void;
  /** Once, when calls can no longer be answered; all of them have failed by then. Not called when `open` fails. */
  closed(error: Error): void;
}

export interface ConnectionParts {
  readonly network: Pick<Network, 'connect'>;
  readonly timer: Timer;
  readonly clock: Clock;
  readonly maxAnswerBytes: number;
}

interface Flight {
  readonly xid: number;
  readonly call: Call;
  readonly sentAtMs: number;
}

interface Expected<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

export class ZooKeeperConnection implements StreamReceiver {
  readonly #parts: ConnectionParts;
  readonly #server: ServerAddress;
  readonly #listener: ConnectionListener;
  readonly #frames: FrameReader;
  #stream: ByteStream | undefined;
  #closedBy: Error | undefined;
  #greeting: Expected<ConnectAnswer> | undefined;
  readonly #auths: Expected<void>[] = [];
  /** When the pings were sent that have no answer yet. */
  readonly #pings: number[] = [];
  readonly #flights: Flight[] = [];
  readonly #outgoing: Buffer[] = [];
  #lastXid = 0;
  #isOpen = false;
  #sentAtMs = 0;
  #heardAtMs = 0;
  #confirmedAtMs = 0;

  constructor(parts: ConnectionParts, server: ServerAddress, listener: ConnectionListener) {
    this.#parts = parts;
    this.#server = server;
    this.#listener = listener;
    this.#frames = new FrameReader(parts.maxAnswerBytes, {
      take: (frame) => this.#take(frame),
      takeOversize: (head, frameBytes) => this.#takeOversize(head, frameBytes),
    });
  }

  get server(): string {
    return formatAddress(this.#server);
  }

  get inFlight(): number {
    return this.#flights.length;
  }

  get isClosed(): boolean {
    return this.#closedBy !== undefined;
  }

  get sentAtMs(): number {
    return this.#sentAtMs;
  }

  get heardAtMs(): number {
    return this.#heardAtMs;
  }

  /** When the latest of those messages was sent that the server has answered: it had heard from us then, or later. 0: never. */
  get confirmedAtMs(): number {
    return this.#confirmedAtMs;
  }

  /** Connects and greets. Rejects when that has not come to an end after `timeoutMs`. */
  async open(request: ConnectRequest, timeoutMs: number): Promise<ConnectAnswer> {
    const { network, timer, clock } = this.#parts;
    const { host, port } = this.#server;
    const timeout = timer.schedule(timeoutMs, () => {
      this.destroy(new Error(`${this.server} has not answered within ${Math.round(timeoutMs)} ms`));
    });
    try {
      await network.connect({ host, port, timeoutMs }, (stream) => {
        this.#stream = stream;
        return this;
      });
      if (this.#closedBy !== undefined) {
        this.#stream?.destroy();
        throw this.#closedBy;
      }
      const sentAtMs = clock.monotonicMs();
      this.#heardAtMs = sentAtMs;
      this.#sentAtMs = sentAtMs;
      const answer = await new Promise<ConnectAnswer>((resolve, reject) => {
        this.#greeting = { resolve, reject };
        this.#stream?.write([connectFrame(request)]);
      });
      this.#confirmedAtMs = sentAtMs;
      return answer;
    } catch (error) {
      // What ended the attempt says more than what followed from that.
      throw this.#closedBy ?? error;
    } finally {
      timeout.cancel();
    }
  }

  /** Proves a name. Rejects with AuthFailed, after which the server closes the connection. */
  authenticate(scheme: string, auth: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closedBy !== undefined) reject(this.#closedBy);
      else {
        this.#auths.push({ resolve, reject });
        this.#write(authFrame(scheme, auth));
      }
    });
  }

  /** A request of the connection itself, before there are any others. */
  ask<T>({ frame, decode }: Request<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (error: number, body: JuteReader): void => {
        if (error === 0) resolve(decode(body));
        else reject(answeredError(error, '/'));
      };
      this.send({ path: '/', frame, answer, fail: reject });
    });
  }

  send(call: Call, xid = this.#nextXid()): void {
    if (this.#closedBy !== undefined) {
      call.fail(lost(call.path, this.#closedBy));
      return;
    }
    call.frame.writeInt32BE(xid, xidPosition);
    this.#write(call.frame);
    this.#flights.push({ xid, call, sentAtMs: this.#sentAtMs });
  }

  ping(): void {
    this.#write(pingFrame());
    this.#pings.push(this.#sentAtMs);
  }

  destroy(error: Error): void {
    if (this.#closedBy !== undefined) return;
    this.#closedBy = error;
    this.#stream?.destroy();
    this.#greeting?.reject(error);
    for (const auth of this.#auths.splice(0)) auth.reject(error);
    for (const { call } of this.#flights.splice(0)) call.fail(lost(call.path, error));
    if (this.#isOpen) this.#listener.closed(error);
  }

  onData(chunk: Buffer): void {
    if (this.#closedBy !== undefined) return;
    this.#heardAtMs = this.#parts.clock.monotonicMs();
    try {
      this.#frames.push(chunk);
    } catch (error) {
      if (!(error instanceof InvalidAnswerError)) throw error;
      this.destroy(new Error(`${this.server} sent what cannot be understood`, { cause: error }));
    }
  }

  onDrain(): void {
    // What may be under way is limited, so nothing waits for this.
  }

  onEnd(): void {
    this.destroy(new Error(`${this.server} has closed the connection`));
  }

  onClose(error: Error | undefined): void {
    const detail = error === undefined ? '' : `: ${error.message}`;
    this.destroy(new Error(`the connection to ${this.server} is gone${detail}`));
  }

  #nextXid(): number {
    this.#lastXid = this.#lastXid === 0x7fff_ffff ? 1 : this.#lastXid + 1;
    return this.#lastXid;
  }

  /** What one turn asks for leaves in one write. */
  #write(frame: Buffer): void {
    this.#sentAtMs = this.#parts.clock.monotonicMs();
    if (this.#outgoing.push(frame) > 1) return;
    queueMicrotask(() => {
      const frames = this.#outgoing.splice(0);
      if (this.#closedBy === undefined) this.#stream?.write(frames);
    });
  }

  #take(frame: Buffer): void {
    if (this.#closedBy !== undefined) return;
    const answer = new JuteReader(frame);
    if (this.#greeting !== undefined) {
      const greeting = this.#greeting;
      const agreed = readConnectAnswer(answer);
      this.#greeting = undefined;
      this.#isOpen = true;
      greeting.resolve(agreed);
      return;
    }
    const { xid, zxid, error } = readAnswerHeader(answer);
    switch (xid) {
      case xids.notification: {
        const notification = readNotification(answer);
        if (notification !== undefined) this.#listener.notified(notification);
        return;
      }
      case xids.ping: {
        const sentAtMs = this.#pings.shift();
        if (sentAtMs === undefined) throw new InvalidAnswerError('an answer to a ping that was not sent');
        this.#confirm(sentAtMs);
        return;
      }
      case xids.auth: {
        const auth = this.#auths.shift();
        if (auth === undefined) throw new InvalidAnswerError('an answer to an authentication that was not sent');
        if (error === 0) auth.resolve();
        else auth.reject(answeredError(error, '/'));
        return;
      }
      default: {
        const flight = this.#expect(xid);
        flight.call.answer(error, answer);
        this.#land(flight, zxid, error);
      }
    }
  }

  /** It answers one call, which fails; the others go on. */
  #takeOversize(head: Buffer, frameBytes: number): void {
    const { xid, zxid, error } = readAnswerHeader(new JuteReader(head));
    if (this.#closedBy !== undefined) return;
    if (this.#greeting !== undefined) throw new InvalidAnswerError(`a greeting of ${frameBytes} bytes`);
    const flight = this.#expect(xid);
    const detail = `the answer has ${frameBytes} bytes, and at most ${this.#parts.maxAnswerBytes} are taken`;
    flight.call.fail(new CoordinationError('TooLarge', flight.call.path, { detail }));
    this.#land(flight, zxid, error);
  }

  #expect(xid: number): Flight {
    const flight = this.#flights[0];
    if (flight?.xid !== xid) throw new InvalidAnswerError(`an answer to request ${xid} where ${flight?.xid ?? 'none'} is due`);
    return flight;
  }

  #land(flight: Flight, zxid: number, error: number): void {
    this.#flights.shift();
    this.#confirm(flight.sentAtMs);
    this.#listener.answered(zxid, error);
  }

  #confirm(sentAtMs: number): void {
    this.#confirmedAtMs = Math.max(this.#confirmedAtMs, sentAtMs);
  }
}

function lost(path: string, cause: Error): CoordinationError {
  return new CoordinationError('ConnectionLoss', path, { cause, detail: cause.message });
}
