// One client's connection: frames in, answers out in the order of the requests.
//
// A connection handles one request at a time, as in Kafka; where a handler allows it (produce), the next requests of the same
// kind are begun while the earlier ones wait, so that what a client has pipelined reaches the disk in one write. Answers that are
// ready in one turn of the event loop leave in one vectored write.
//
// What a peer can make us hold is bounded: no frame is cut before it can be begun, and the stream is not read while
//   - a request is being handled and a chunk of what follows is here already,
//   - the peer does not take its answers (the stream asks to wait for its drain),
//   - the peer has been told to wait, because it does more than it may,
//   - all connections together hold too many bytes of requests.

import { FrameCutter, MalformedMessageError } from '@odradek/protocol';
import type { BufferPool, ByteStream, Clock, Logger, StreamReceiver, Timer, TimerTask } from '@odradek/runtime';
import { CloseConnectionError } from '../requests/close-connection-error.ts';
import type { FrameLease, Principal } from '../requests/request-context.ts';
import type { RequestMemory } from './request-memory.ts';

/** Requests begun and not answered on one connection, and their bytes. The Java producer has at most 5 of at most 1 MiB. */
const maxOverlappingRequests = 32;
const maxOverlappingBytes = 8 * 1024 * 1024;

/** Answers are handed to the stream when they come to this size, so that it can say that the peer is slow. */
const maxGatheredBytes = 256 * 1024;

/** What a connection is for the requests that come over it. */
export interface ConnectionIdentity {
  readonly connectionId: string;
  readonly clientAddress: string;
  readonly listenerName: string;
  readonly securityProtocol: string;
  readonly principal: Principal;
  readonly isPrivileged: boolean;
}

/** A whole answer, size and header included; null when the request gets none. */
export type AnswerBytes = readonly Buffer[] | null;

/** Where frames go. Throws or rejects only to have the connection closed. */
export interface FrameHandler {
  /** Says in `lease` whether the frame may be used again once the answer is there. */
  handle(frame: Buffer, connection: ConnectionIdentity, lease: FrameLease): AnswerBytes | Promise<AnswerBytes>;
  /** Whether the request in the frame may be begun while others for which this is true wait. */
  mayOverlap(frame: Buffer): boolean;
}

export interface BrokerConnectionParts {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly memory: RequestMemory;
  /** Where large frames are taken from, and given back to once a handler says that it is done with them. */
  readonly framePool: BufferPool;
  readonly requests: FrameHandler;
  readonly maxRequestBytes: number;
  /** Below 0: for ever. */
  readonly maxIdleMs: number;
  readonly onClose: (connection: BrokerConnection) => void;
}

/** A request that was begun; its place in the order of the answers. */
interface InFlight extends FrameLease {
  readonly frame: Buffer;
  isDone: boolean;
  answer: AnswerBytes;
}

export class BrokerConnection implements StreamReceiver {
  readonly identity: ConnectionIdentity;
  readonly #stream: ByteStream;
  readonly #parts: BrokerConnectionParts;
  readonly #frames: FrameCutter;
  /** Chunks that came in after the stream was paused. */
  #unread: Buffer[] = [];
  /** A frame that was cut but has to wait for its turn. */
  #nextFrame: Buffer | null = null;
  readonly #inFlight: InFlight[] = [];
  #inFlightBytes = 0;
  #allMayOverlap = true;
  #outgoing: Buffer[] = [];
  #outgoingBytes = 0;
  /** Who waits for the answers that were handed to the stream to have left. */
  readonly #onSent: (() => void)[] = [];
  #willFlush = false;
  /** Bytes of incomplete frames that `memory` knows of. */
  #countedBytes = 0;
  #isPaused = false;
  #peerIsSlow = false;
  #peerHasEnded = false;
  #hasEnded = false;
  /** Set while the peer is made to wait, which is until then, in monotonic time. */
  #muteTask: TimerTask | undefined;
  #mutedUntilMs = 0;
  #isClosed = false;
  #lastActiveMs: number;
  #idleTask: TimerTask | undefined;
  readonly #resumeReading = (): void => this.#proceed();

  constructor(stream: ByteStream, identity: ConnectionIdentity, parts: BrokerConnectionParts) {
    this.#stream = stream;
    this.identity = identity;
    this.#parts = parts;
    this.#frames = new FrameCutter(parts.maxRequestBytes, (size) => parts.framePool.take(size));
    this.#lastActiveMs = parts.clock.monotonicMs();
    if (parts.maxIdleMs >= 0) this.#scheduleIdleCheck(parts.maxIdleMs);
  }

  /** Monotonic time of the last sign of life. */
  get lastActiveMs(): number {
    return this.#lastActiveMs;
  }

  /** Keeps the stream from being read until `admit`. */
  hold(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  admit(): void {
    this.#lastActiveMs = this.#parts.clock.monotonicMs();
    this.#proceed();
  }

  onData(chunk: Buffer): void {
    if (this.#isClosed) return;
    this.#lastActiveMs = this.#parts.clock.monotonicMs();
    if (this.#isPaused || this.#unread.length > 0 || !this.#frames.isDrained) {
      this.#unread.push(Buffer.from(chunk));
      if (this.#isPaused) return;
    } else {
      this.#frames.add(chunk);
    }
    this.#proceed();
    // The bytes are ours during this call only.
    this.#frames.own();
  }

  onDrain(): void {
    this.#peerIsSlow = false;
    this.#lastActiveMs = this.#parts.clock.monotonicMs();
    this.#proceed();
  }

  onEnd(): void {
    this.#peerHasEnded = true;
    this.#endIfAnswered();
  }

  onClose(error: Error | undefined): void {
    if (error !== undefined) this.#parts.logger.debug('A connection broke', { client: this.identity.clientAddress, error });
    this.#shutDown();
  }

  /** Drops the connection. Requests that were begun go on; their answers are lost. */
  close(): void {
    this.#stream.destroy();
    this.#shutDown();
  }

  /** Begins what can be begun, then decides whether to read on. */
  #proceed(): void {
    try {
      this.#beginRequests();
    } catch (error) {
      this.#hangUp(error);
      return;
    }
    if (this.#isClosed) return;
    this.#countMemory();
    this.#flush();
    this.#regulateReading();
    this.#endIfAnswered();
  }

  #beginRequests(): void {
    while (!this.#isClosed && !this.#peerIsSlow && this.#muteTask === undefined) {
      const frame = this.#nextFrame ?? this.#cutFrame();
      if (frame === null) return;
      if (!this.#mayBegin(frame)) {
        this.#nextFrame = frame;
        return;
      }
      this.#nextFrame = null;
      this.#begin(frame);
    }
  }

  #cutFrame(): Buffer | null {
    if (this.#inFlight.length > 0 && !this.#allMayOverlap) return null;
    for (;;) {
      const frame = this.#frames.next();
      if (frame !== null) return frame;
      const chunk = this.#unread.shift();
      if (chunk === undefined) return null;
      this.#frames.add(chunk);
    }
  }

  #mayBegin(frame: Buffer): boolean {
    if (this.#inFlight.length === 0) {
      this.#allMayOverlap = this.#parts.requests.mayOverlap(frame);
      return true;
    }
    return (
      this.#inFlight.length < maxOverlappingRequests &&
      this.#inFlightBytes < maxOverlappingBytes &&
      this.#parts.requests.mayOverlap(frame)
    );
  }

  #begin(frame: Buffer): void {
    const request: InFlight = { frame, mayRecycle: false, onSent: undefined, muteMs: 0, isDone: false, answer: null };
    const answer = this.#parts.requests.handle(frame, this.identity, request);
    if (!(answer instanceof Promise)) {
      request.isDone = true;
      request.answer = answer;
      if (this.#inFlight.length > 0) {
        this.#track(request);
      } else {
        this.#send(request);
      }
      return;
    }
    this.#track(request);
    answer.then(
      (bytes) => {
        request.isDone = true;
        request.answer = bytes;
        this.#answerInOrder();
      },
      (error: unknown) => {
        this.#forgetAll();
        this.#hangUp(error);
      },
    );
  }

  #track(request: InFlight): void {
    this.#inFlight.push(request);
    this.#inFlightBytes += request.frame.length;
    this.#parts.memory.add(request.frame.length);
  }

  #answerInOrder(): void {
    let answered = 0;
    for (const request of this.#inFlight) {
      if (!request.isDone) break;
      answered += 1;
      this.#inFlightBytes -= request.frame.length;
      this.#parts.memory.add(-request.frame.length);
      this.#send(request);
    }
    if (answered === 0) return;
    this.#inFlight.splice(0, answered);
    // Later, because other answers of this turn are about to follow this one.
    if (this.#willFlush) return;
    this.#willFlush = true;
    queueMicrotask(() => {
      this.#willFlush = false;
      if (!this.#isClosed) this.#proceed();
    });
  }

  #send({ frame, mayRecycle, answer, onSent, muteMs }: InFlight): void {
    if (mayRecycle) this.#parts.framePool.give(frame);
    if (muteMs > 0) this.#mute(muteMs);
    if (answer === null || this.#isClosed) {
      onSent?.();
      return;
    }
    for (const chunk of answer) {
      this.#outgoing.push(chunk);
      this.#outgoingBytes += chunk.length;
    }
    if (onSent !== undefined) this.#onSent.push(onSent);
    if (this.#outgoingBytes >= maxGatheredBytes) this.#flush();
  }

  /** Requests that were begun are still answered. */
  #mute(muteMs: number): void {
    const untilMs = this.#parts.clock.monotonicMs() + muteMs;
    if (this.#isClosed || untilMs <= this.#mutedUntilMs) return;
    this.#mutedUntilMs = untilMs;
    this.#muteTask?.cancel();
    this.#muteTask = this.#parts.timer.schedule(muteMs, () => {
      this.#muteTask = undefined;
      this.#proceed();
    });
  }

  #flush(): void {
    if (this.#outgoing.length > 0) {
      const chunks = this.#outgoing;
      this.#outgoing = [];
      this.#outgoingBytes = 0;
      if (!this.#stream.write(chunks)) this.#peerIsSlow = true;
    }
    if (this.#onSent.length > 0 && this.#stream.bufferedBytes === 0) this.#tellSent();
  }

  /** Nothing refers to the bytes of the answers any more. */
  #tellSent(): void {
    for (const onSent of this.#onSent.splice(0)) onSent();
  }

  #countMemory(): void {
    const held = this.#frames.pendingBytes;
    if (held === this.#countedBytes) return;
    const change = held - this.#countedBytes;
    this.#countedBytes = held;
    this.#parts.memory.add(change);
  }

  #regulateReading(): void {
    const isBusy =
      this.#nextFrame !== null ||
      this.#unread.length > 0 ||
      !this.#frames.isDrained ||
      this.#peerIsSlow ||
      this.#muteTask !== undefined;
    // Whoever is in the middle of a frame may finish it, or the bytes that are held would never be let go.
    const lacksMemory = !isBusy && this.#countedBytes === 0 && this.#parts.memory.isFull;
    if (lacksMemory) this.#parts.memory.waitForRoom(this.#resumeReading);
    const mustPause = isBusy || lacksMemory;
    if (mustPause === this.#isPaused) return;
    this.#isPaused = mustPause;
    if (mustPause) this.#stream.pause();
    else this.#stream.resume();
  }

  #endIfAnswered(): void {
    if (!this.#peerHasEnded || this.#hasEnded || this.#isClosed) return;
    if (this.#inFlight.length > 0 || this.#unread.length > 0 || this.#nextFrame !== null || this.#peerIsSlow) return;
    if (!this.#frames.isDrained) return;
    this.#hasEnded = true;
    this.#stream.end();
  }

  #hangUp(error: unknown): void {
    if (this.#isClosed) return;
    const { clientAddress, listenerName, connectionId } = this.identity;
    const fields = { client: clientAddress, listener: listenerName, connection: connectionId };
    if (error instanceof CloseConnectionError || error instanceof MalformedMessageError) {
      this.#parts.logger.warn(`Closed a connection: ${error.message}`, fields);
    } else {
      this.#parts.logger.error('Closed a connection because of an unexpected error', { ...fields, error });
    }
    this.close();
  }

  #forgetAll(): void {
    for (const request of this.#inFlight) {
      this.#parts.memory.add(-request.frame.length);
      if (request.isDone) request.onSent?.();
    }
    this.#inFlight.length = 0;
    this.#inFlightBytes = 0;
  }

  #shutDown(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#idleTask?.cancel();
    this.#muteTask?.cancel();
    this.#unread = [];
    this.#nextFrame = null;
    this.#outgoing = [];
    this.#tellSent();
    this.#parts.memory.stopWaiting(this.#resumeReading);
    this.#parts.memory.add(-this.#countedBytes);
    this.#countedBytes = 0;
    this.#parts.onClose(this);
  }

  #scheduleIdleCheck(delayMs: number): void {
    this.#idleTask = this.#parts.timer.schedule(delayMs, () => {
      const idleMs = this.#parts.clock.monotonicMs() - this.#lastActiveMs;
      if (idleMs >= this.#parts.maxIdleMs && this.#inFlight.length === 0) {
        this.#parts.logger.debug('Closed an idle connection', { client: this.identity.clientAddress, idleMs: Math.round(idleMs) });
        this.close();
      } else {
        this.#scheduleIdleCheck(Math.max(1, this.#parts.maxIdleMs - idleMs));
      }
    });
  }
}
