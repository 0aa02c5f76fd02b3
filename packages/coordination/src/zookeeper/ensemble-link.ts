// A session's link to the ensemble: a connection to one of the servers, and when that breaks, to another one, with the same session.
//
//   connecting ──> connected <──> disconnected ──> lapsed ──> expired      expired and closed are final;
//                      ^                             │                     closed is reached from everywhere
//                      └─────────────────────────────┘
//
// The servers alone decide whether a session is over. But they may have decided so without being able to tell us, once nearly the whole
// timeout has passed since we sent the last message that they answered: then the session is lapsed. See docs/decisions/0010.
//
// Calls outlive connections: what was under way when one broke goes out again first of all on the next, in its order, and says that it
// does. Only the end of the session ends them; and what stands in their own way: an answer that cannot be understood, or one connection
// after the other that breaks under a call, because it may be what breaks them. See docs/decisions/0017.
//
// Silence: a ping goes out after a third of the timeout, after two thirds without a byte from the server the connection is given up,
// and another server is looked for; after five sixths the session is lapsed. The last sixth is for the news of us, which the followers of
// an ensemble pass on to their leader every half tick only.

import type { Clock, Logger, Network, Random, Timer, TimerTask } from '@odradek/runtime';
import { CoordinationError, isCoordinationError, type SessionState } from '../coordination.ts';
import { authenticate, type Identity } from './authentication.ts';
import { CallQueue } from './call-queue.ts';
import { formatAddress, type ServerAddress, ServerRing } from './connect-string.ts';
import { type Call, ZooKeeperConnection } from './connection.ts';
import { InvalidAnswerError, type JuteReader } from './jute.ts';
import {
  closeRequest,
  type Notification,
  type StandingWatches,
  sessionExpiredError,
  sessionMovedError,
  setWatchesRequest,
  xids,
} from './requests.ts';

export interface EnsembleLinkParts extends Identity {
  readonly network: Pick<Network, 'connect'>;
  readonly timer: Timer;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly servers: readonly ServerAddress[];
  /** Asked for; the ensemble has bounds of its own. */
  readonly sessionTimeoutMs: number;
  /** How long the first connection may take to come about. */
  readonly connectionTimeoutMs: number;
  readonly maxInFlightRequests: number;
  readonly maxAnswerBytes: number;
}

export interface LinkListener {
  changed(state: SessionState): void;
  notified(notification: Notification): void;
  /** The watches to set again on a new connection. */
  standingWatches(): readonly StandingWatches[];
}

/** A request of the session. Exactly one of `answer` and `fail` is called. */
export interface SessionCall {
  /** As the caller knows it, for errors. */
  readonly path: string;
  readonly frame: Buffer;
  /** `isRepeated`: it has been sent before, and may have taken effect then. Throws InvalidAnswerError when the answer cannot be read. */
  answer(error: number, body: JuteReader, isRepeated: boolean): void;
  fail(error: CoordinationError): void;
}

/** After so many connections that broke under it a call is not sent again: a server may close them because of it. */
const mostLosses = 10;

/** In parts of the session's timeout. */
const pingAfter = 1 / 3;
const giveUpAfter = 2 / 3;
const lapseAfter = 5 / 6;

/** Between two rounds of all servers: doubled from round to round, and spread by chance, so that clients do not come all at once. */
const firstBackOffMs = 100;
const longestBackOffMs = 1000;

/** However long the session: a dead server shall be noticed by those who wait for an answer. ZooKeeper's own client has the same. */
const longestPingIntervalMs = 10_000;

export class EnsembleLink {
  readonly #parts: EnsembleLinkParts;
  readonly #listener: LinkListener;
  readonly #ring: ServerRing;
  readonly #waiting = new CallQueue<PendingCall>();
  /** What was under way on a connection that is just ending. */
  readonly #unanswered: PendingCall[] = [];
  readonly #keep = (call: PendingCall): void => void this.#unanswered.push(call);
  #state: SessionState | 'connecting' = 'connecting';
  #isClosing = false;
  #sessionId = 0n;
  #password: Buffer = Buffer.alloc(16);
  #timeoutMs: number;
  #lastZxid = 0;
  /** Present exactly when the state is `connected`. */
  #connection: ZooKeeperConnection | undefined;
  /** The one that is being opened. */
  #attempt: ZooKeeperConnection | undefined;
  #isAttaching = false;
  #attachedAtMs = 0;
  /** Attempts since the last one that was of use. */
  #failures = 0;
  #lastFailure: unknown;
  #confirmedAtMs = 0;
  #silenceTask: TimerTask | undefined;
  #lapseTask: TimerTask | undefined;
  #wake: (() => void) | undefined;

  constructor(parts: EnsembleLinkParts, listener: LinkListener) {
    this.#parts = parts;
    this.#listener = listener;
    this.#ring = new ServerRing(parts.servers, parts.random);
    this.#timeoutMs = parts.sessionTimeoutMs;
  }

  get sessionId(): bigint {
    return this.#sessionId;
  }

  get state(): SessionState {
    if (this.#state === 'connecting') return 'disconnected';
    // A process that was stopped finds this out before its timers run.
    const isCounting = this.#state === 'connected' || this.#state === 'disconnected';
    return isCounting && this.#mayBeOver(this.#connection?.confirmedAtMs ?? this.#confirmedAtMs) ? 'lapsed' : this.#state;
  }

  /** Begins the session. Rejects with ConnectionLoss when no server has taken us in time, and with AuthFailed. */
  async open(): Promise<void> {
    const { clock, connectionTimeoutMs } = this.#parts;
    const deadlineMs = clock.monotonicMs() + connectionTimeoutMs;
    try {
      await this.#attach(deadlineMs);
    } catch (error) {
      this.#end('closed', error);
      throw error;
    }
  }

  /** Calls go out in this order, as soon as there is a connection and few enough are under way. */
  send(call: SessionCall): void {
    if (this.#isOver) call.fail(new CoordinationError('SessionExpired', call.path));
    else {
      this.#waiting.push(new PendingCall(call, this.#keep));
      this.#pump();
    }
  }

  /** Ends the session behind all that was asked for, if a server can be told; else it expires there by itself. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isClosing = true;
    if (this.#connection !== undefined) {
      await new Promise<void>((resolve) => {
        this.send({ path: '/', frame: closeRequest().frame, answer: () => resolve(), fail: () => resolve() });
      });
    }
    this.#end('closed');
  }

  get #isOver(): boolean {
    return this.#state === 'expired' || this.#state === 'closed';
  }

  #pump(): void {
    const connection = this.#connection;
    while (connection !== undefined && connection.inFlight < this.#parts.maxInFlightRequests) {
      const call = this.#waiting.shift();
      if (call === undefined) return;
      connection.send(call);
    }
  }

  /** Tries one server after the other until one has taken the session, or has said that it is over. */
  async #attach(deadlineMs = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.#isAttaching) return;
    this.#isAttaching = true;
    try {
      await this.#tryServers(deadlineMs);
    } finally {
      this.#isAttaching = false;
    }
  }

  async #tryServers(deadlineMs: number): Promise<void> {
    const { clock, logger } = this.#parts;
    for (;;) {
      const pauseMs = this.#backOffMs();
      if (clock.monotonicMs() + pauseMs >= deadlineMs) throw this.#unreachable();
      if (pauseMs > 0) await this.#sleep(pauseMs);
      if (this.#isOver) return;
      const server = this.#ring.next();
      try {
        await this.#attachTo(server, deadlineMs - clock.monotonicMs());
        if (this.#connection !== undefined || this.#isOver) return;
      } catch (error) {
        this.#attempt = undefined;
        if (this.#isOver) return;
        this.#lastFailure = error;
        // An outage can last for hours.
        const level = this.#failures++ < this.#ring.size ? 'warn' : 'debug';
        logger[level]('Could not connect to ZooKeeper', { server: formatAddress(server), reason: reasonOf(error) });
        if (this.#state === 'connecting' && isCoordinationError(error, 'AuthFailed')) throw error;
      }
    }
  }

  async #attachTo(server: ServerAddress, atMostMs: number): Promise<void> {
    const connection = new ZooKeeperConnection(this.#parts, server, {
      notified: (notification) => this.#listener.notified(notification),
      answered: (zxid, error) => this.#answered(connection, zxid, error),
      closed: (error) => this.#closed(connection, error),
    });
    this.#attempt = connection;
    // One server that does not answer must leave time for the others.
    const timeoutMs = Math.min(this.#timeoutMs * giveUpAfter, this.#timeoutMs / this.#ring.size, atMostMs);
    const request = {
      lastZxid: this.#lastZxid,
      timeoutMs: this.#parts.sessionTimeoutMs,
      sessionId: this.#sessionId,
      password: this.#password,
    };
    try {
      const answer = await connection.open(request, timeoutMs);
      if (answer.timeoutMs <= 0) {
        if (this.#sessionId === 0n) throw new InvalidAnswerError('the server gives no session');
        this.#expire();
        return;
      }
      if (this.#sessionId !== 0n && answer.sessionId !== this.#sessionId) {
        throw new InvalidAnswerError(`session ${answer.sessionId} where ${this.#sessionId} was asked for`);
      }
      await authenticate(connection, this.#parts, timeoutMs);
      this.#attached(connection, answer);
    } catch (error) {
      connection.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    } finally {
      this.#confirmedAtMs = Math.max(this.#confirmedAtMs, connection.confirmedAtMs);
    }
  }

  #attached(connection: ZooKeeperConnection, answer: { timeoutMs: number; sessionId: bigint; password: Buffer }): void {
    if (this.#isOver || connection.isClosed) throw new Error('the connection was closed at once');
    const isNew = this.#sessionId === 0n;
    this.#sessionId = answer.sessionId;
    this.#password = answer.password;
    this.#timeoutMs = answer.timeoutMs;
    this.#attempt = undefined;
    this.#connection = connection;
    this.#attachedAtMs = this.#parts.clock.monotonicMs();
    this.#lapseTask?.cancel();
    for (const watches of this.#listener.standingWatches()) {
      connection.send(forgotten(setWatchesRequest(this.#lastZxid, watches).frame, connection), xids.setWatches);
    }
    this.#parts.logger.info(isNew ? 'Connected to ZooKeeper' : 'Connected to ZooKeeper again', {
      server: connection.server,
      session: sessionName(answer.sessionId),
      timeoutMs: answer.timeoutMs,
    });
    this.#watchSilence(connection);
    this.#become('connected');
    this.#pump();
  }

  #answered(connection: ZooKeeperConnection, zxid: number, error: number): void {
    if (connection !== this.#connection) return;
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
    if (error === sessionExpiredError) this.#expire();
    else if (error === sessionMovedError) connection.destroy(new Error('the session has moved to another connection'));
    else this.#pump();
  }

  #closed(connection: ZooKeeperConnection, error: Error): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    this.#silenceTask?.cancel();
    this.#waiting.putBack(this.#unanswered.splice(0));
    // A server that takes the session and drops it at once is of no use either.
    const livedMs = this.#parts.clock.monotonicMs() - this.#attachedAtMs;
    this.#failures = livedMs < longestBackOffMs ? this.#failures + 1 : 0;
    this.#confirmedAtMs = Math.max(this.#confirmedAtMs, connection.confirmedAtMs);
    if (this.#isOver) return;
    if (this.#isClosing) {
      this.#end('closed');
      return;
    }
    const reason = reasonOf(error);
    this.#parts.logger.warn('The connection to ZooKeeper is lost', { server: connection.server, session: this.#name, reason });
    this.#become('disconnected');
    this.#scheduleLapse();
    void this.#attach();
  }

  /** Checks the connection as often as one of its deadlines comes near. */
  #watchSilence(connection: ZooKeeperConnection, isSecondLook = false): void {
    if (connection !== this.#connection) return;
    const { clock, timer } = this.#parts;
    const nowMs = clock.monotonicMs();
    const giveUpAtMs = connection.heardAtMs + this.#timeoutMs * giveUpAfter;
    if (nowMs >= giveUpAtMs || this.#mayBeOver(connection.confirmedAtMs)) {
      // If it was this process that slept, the answer may be waiting to be read.
      if (!isSecondLook) timer.afterThisTurn(() => this.#watchSilence(connection, true));
      else connection.destroy(new Error(this.#silenceOf(connection)));
      return;
    }
    const pingIntervalMs = Math.min(this.#timeoutMs * pingAfter, longestPingIntervalMs);
    if (nowMs >= connection.sentAtMs + pingIntervalMs) connection.ping();
    const nextMs = Math.min(
      giveUpAtMs,
      connection.sentAtMs + pingIntervalMs,
      connection.confirmedAtMs + this.#timeoutMs * lapseAfter,
    );
    this.#silenceTask = timer.schedule(Math.max(1, nextMs - nowMs), () => this.#watchSilence(connection));
  }

  /** It may have spoken just now, and have answered nothing for long: a process that was stopped finds it so. */
  #silenceOf(connection: ZooKeeperConnection): string {
    const nowMs = this.#parts.clock.monotonicMs();
    const silentMs = Math.round(nowMs - connection.heardAtMs);
    if (silentMs >= this.#timeoutMs * giveUpAfter) return `${connection.server} was silent for ${silentMs} ms`;
    const unconfirmedMs = Math.round(nowMs - connection.confirmedAtMs);
    return `${connection.server} has answered nothing that was sent in the last ${unconfirmedMs} ms, so that the session may be over`;
  }

  #mayBeOver(confirmedAtMs: number): boolean {
    return this.#parts.clock.monotonicMs() >= confirmedAtMs + this.#timeoutMs * lapseAfter;
  }

  #scheduleLapse(): void {
    if (this.#state !== 'disconnected') return;
    if (this.#mayBeOver(this.#confirmedAtMs)) {
      this.#parts.logger.warn(
        'The session may be over without our knowing: ZooKeeper has not answered for nearly its whole timeout',
        {
          session: this.#name,
          timeoutMs: this.#timeoutMs,
        },
      );
      this.#become('lapsed');
      return;
    }
    const leftMs = this.#confirmedAtMs + this.#timeoutMs * lapseAfter - this.#parts.clock.monotonicMs();
    this.#lapseTask = this.#parts.timer.schedule(leftMs, () => this.#scheduleLapse());
  }

  #expire(): void {
    this.#parts.logger.error('The session with ZooKeeper has expired', { session: this.#name });
    this.#end('expired');
  }

  #end(state: 'expired' | 'closed', cause?: unknown): void {
    if (this.#isOver) return;
    this.#state = state;
    this.#silenceTask?.cancel();
    this.#lapseTask?.cancel();
    const ending = new Error(`the session is ${state}`, { cause });
    this.#attempt?.destroy(ending);
    this.#connection?.destroy(ending);
    this.#connection = undefined;
    this.#waiting.putBack(this.#unanswered.splice(0));
    for (const call of this.#waiting.drain()) call.sessionOver();
    this.#wake?.();
    this.#listener.changed(state);
  }

  #become(state: SessionState): void {
    this.#state = state;
    this.#listener.changed(state);
  }

  #unreachable(): CoordinationError {
    const servers = this.#parts.servers.map(formatAddress).join(',');
    return new CoordinationError('ConnectionLoss', '/', {
      detail: `no ZooKeeper server of ${servers} has answered within ${this.#parts.connectionTimeoutMs} ms`,
      cause: this.#lastFailure,
    });
  }

  /** The first round is without a pause. */
  #backOffMs(): number {
    const round = Math.floor(this.#failures / this.#ring.size);
    if (round === 0 || this.#failures % this.#ring.size !== 0) return 0;
    const pauseMs = Math.min(longestBackOffMs, firstBackOffMs * 2 ** Math.min(round - 1, 10));
    return pauseMs * (0.5 + this.#parts.random.next() / 2);
  }

  /** `#end` cuts it short. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const task = this.#parts.timer.schedule(ms, resolve);
      this.#wake = () => {
        task.cancel();
        resolve();
      };
    });
  }

  get #name(): string {
    return sessionName(this.#sessionId);
  }
}

/** A call until its end, over as many connections as it takes. */
class PendingCall implements Call {
  readonly #call: SessionCall;
  readonly #unanswered: (call: PendingCall) => void;
  frame: Buffer;
  #losses = 0;

  /** `unanswered`: called when a connection has ended under it. */
  constructor(call: SessionCall, unanswered: (call: PendingCall) => void) {
    this.#call = call;
    this.#unanswered = unanswered;
    this.frame = call.frame;
  }

  get path(): string {
    return this.#call.path;
  }

  answer(error: number, body: JuteReader): void {
    // The connection ends as well, and the server has not done it.
    if (error === sessionMovedError)
      this.fail(new CoordinationError('ConnectionLoss', this.path, { detail: 'the session has moved' }));
    else this.#call.answer(error, body, this.#losses > 0);
  }

  fail(error: CoordinationError): void {
    if (error.code !== 'ConnectionLoss' || isNotUnderstood(error) || ++this.#losses >= mostLosses) this.#call.fail(error);
    else {
      // Each sending has its own number in it, and the old one may still be in somebody's hands.
      this.frame = Buffer.from(this.frame);
      this.#unanswered(this);
    }
  }

  sessionOver(): void {
    const detail = this.#losses > 0 ? { detail: 'it may have taken effect before' } : {};
    this.#call.fail(new CoordinationError('SessionExpired', this.path, detail));
  }
}

/** The same question would have the same answer. */
function isNotUnderstood({ cause }: CoordinationError): boolean {
  return cause instanceof Error && cause.cause instanceof InvalidAnswerError;
}

/** As ZooKeeper's own log has it. */
function sessionName(sessionId: bigint): string {
  return `0x${BigInt.asUintN(64, sessionId).toString(16)}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** A call whose answer tells nothing; a refusal means that the connection is of no use. */
function forgotten(frame: Buffer, connection: ZooKeeperConnection): Call {
  return {
    path: '/',
    frame,
    answer: (error) => {
      if (error !== 0) connection.destroy(new Error(`the watches could not be set again: ZooKeeper answers ${error}`));
    },
    fail: () => undefined,
  };
}
