// The listeners of a broker and the connections that came in through them, with the limits on their number.
//
// A listener is open before the broker is ready, because the broker must tell its port to the others; who connects so early waits.
//
// Whoever may not come in yet is held back unread, as Kafka does by not accepting; beyond as many as the backlog allows they are
// refused. `max.connections.per.ip` refuses at once. The rules are in connection-admission.ts.

import {
  BufferPool,
  type ByteStream,
  type Clock,
  type Listener,
  type Logger,
  type Network,
  type StreamReceiver,
  type Timer,
  type TimerTask,
} from '@odradek/runtime';
import type { ListenerAddress } from '../config/listeners.ts';
import { anonymousPrincipal } from '../requests/request-context.ts';
import { BrokerConnection, type FrameHandler } from './broker-connection.ts';
import { ConnectionAdmission, type ConnectionLimits } from './connection-admission.ts';
import { RequestMemory } from './request-memory.ts';

/** While connections wait because there are too many, how often it is looked whether the limit was raised. */
const fullCheckMs = 1000;

export interface SocketServerLimits extends ConnectionLimits {
  readonly maxRequestBytes: number;
  /** 0 or less: none. */
  readonly maxQueuedRequestBytes: number;
  readonly maxIdleMs: number;
  readonly backlog: number;
}

export interface SocketServerParts {
  readonly network: Network;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly requests: FrameHandler;
  /** Asked for each new connection, because the limits on their number can be changed while the broker runs. */
  readonly limits: () => SocketServerLimits;
  /** Connections over this listener are from brokers. */
  readonly interBrokerListenerName: string;
  /** Asked for each new connection: 0, or for how long it is kept waiting before it is closed. Absent: none is. */
  readonly turnAwayMs?: (address: string) => number;
}

export class SocketServer {
  readonly #parts: SocketServerParts;
  readonly #memory: RequestMemory;
  readonly #framePool = new BufferPool({ largestBytes: 2 * 1024 * 1024, maxIdleBytes: 32 * 1024 * 1024 });
  readonly #listeners: { readonly address: ListenerAddress; readonly listener: Listener }[] = [];
  readonly #connections = new Set<BrokerConnection>();
  readonly #admission: ConnectionAdmission;
  /** Connections that may not come in yet, the longest waiting first. */
  readonly #held = new Set<BrokerConnection>();
  /** Connections from addresses that open too many, until they are closed: a peer that had to wait does not try again at once. */
  readonly #turnedAway = new Map<BrokerConnection, TimerTask>();
  /** Set while one of them waits for time to pass. */
  #admissionTask: TimerTask | undefined;
  #isServing = false;
  #nextConnectionNumber = 0;

  constructor(parts: SocketServerParts) {
    this.#parts = parts;
    this.#memory = new RequestMemory(parts.limits().maxQueuedRequestBytes);
    this.#admission = new ConnectionAdmission(
      parts.clock,
      parts.limits,
      (name) => name === parts.interBrokerListenerName && this.#isDedicated(name),
    );
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  get requestBytesHeld(): number {
    return this.#memory.usedBytes;
  }

  /** Opens a listener; answers it with the port that it really has. Rejects with the system's error (EADDRINUSE, …). */
  async listen(address: ListenerAddress): Promise<ListenerAddress> {
    const { network, logger, limits } = this.#parts;
    const listener = await network.listen(
      {
        host: address.host,
        port: address.port,
        backlog: limits().backlog,
        onAcceptError: (error) => logger.error('A connection could not be accepted', { listener: address.name, error }),
      },
      (stream) => this.#accept(stream, bound),
    );
    const bound: ListenerAddress = { ...address, port: listener.port };
    this.#listeners.push({ address: bound, listener });
    return bound;
  }

  /** Where it listens now. */
  get listening(): readonly ListenerAddress[] {
    return this.#listeners.map(({ address }) => address);
  }

  /** Closes the listener, and every connection that came in through it. */
  async stopListeningOn(name: string): Promise<void> {
    const index = this.#listeners.findIndex(({ address }) => address.name === name);
    const [found] = index === -1 ? [] : this.#listeners.splice(index, 1);
    await found?.listener.close();
    for (const connection of [...this.#connections]) if (connection.identity.listenerName === name) connection.close();
  }

  /** The broker is ready: connections are read from now on. */
  serve(): void {
    this.#isServing = true;
    this.#admitHeld();
  }

  /** Stops accepting; open connections go on. */
  async stopListening(): Promise<void> {
    const listeners = this.#listeners.splice(0);
    await Promise.all(listeners.map(({ listener }) => listener.close()));
  }

  /** Drops every connection. */
  closeConnections(): void {
    this.#isServing = false;
    this.#admissionTask?.cancel();
    for (const connection of [...this.#connections]) connection.close();
  }

  #accept(stream: ByteStream, listener: ListenerAddress): StreamReceiver {
    const { clock, timer, logger, requests, limits: limitsNow, interBrokerListenerName } = this.#parts;
    const limits = limitsNow();
    const clientAddress = stream.remoteAddress;
    this.#nextConnectionNumber += 1;
    const connection = new BrokerConnection(
      stream,
      {
        connectionId: `${stream.localAddress}:${stream.localPort}-${clientAddress}:${stream.remotePort}-${this.#nextConnectionNumber}`,
        clientAddress,
        listenerName: listener.name,
        securityProtocol: listener.securityProtocol,
        principal: anonymousPrincipal,
        isPrivileged: listener.name === interBrokerListenerName && this.#isDedicated(listener.name),
      },
      {
        clock,
        timer,
        logger,
        memory: this.#memory,
        framePool: this.#framePool,
        requests,
        maxRequestBytes: limits.maxRequestBytes,
        maxIdleMs: limits.maxIdleMs,
        onClose: (closed) => this.#forget(closed),
      },
    );
    this.#connections.add(connection);
    const turnAwayMs = this.#parts.turnAwayMs?.(clientAddress) ?? 0;
    if (turnAwayMs > 0) {
      this.#turnAway(connection, this.#turnedAway.size < limits.backlog ? turnAwayMs : 0);
      return connection;
    }
    const ipLimit = this.#admission.arrive(clientAddress);
    if (ipLimit !== undefined) {
      this.#held.add(connection);
      logger.warn('Refused a connection: too many from this address', { client: clientAddress, limit: ipLimit });
      connection.close();
    } else {
      const mayEnterNow = this.#isServing && this.#held.size === 0 && this.#admit(connection);
      if (!mayEnterNow) this.#hold(connection, limits);
    }
    return connection;
  }

  /** Whether only brokers come in through the listener: clients have another. */
  #isDedicated(name: string): boolean {
    return this.#listeners.some(({ address }) => address.name !== name);
  }

  #turnAway(connection: BrokerConnection, delayMs: number): void {
    const { clientAddress } = connection.identity;
    this.#parts.logger.debug('Turned a connection away: its address opens too many', { client: clientAddress, delayMs });
    connection.hold();
    this.#turnedAway.set(
      connection,
      this.#parts.timer.schedule(delayMs, () => connection.close()),
    );
  }

  #hold(connection: BrokerConnection, limits: SocketServerLimits): void {
    const isFull = this.#held.size >= limits.backlog;
    this.#held.add(connection);
    if (isFull) {
      const { clientAddress } = connection.identity;
      this.#parts.logger.warn('Refused a connection: too many are open', { client: clientAddress, limit: limits.maxConnections });
      connection.close();
      return;
    }
    connection.hold();
    if (this.#isServing) this.#admitHeld();
  }

  #forget(connection: BrokerConnection): void {
    const { clientAddress, listenerName } = connection.identity;
    this.#connections.delete(connection);
    const turningAway = this.#turnedAway.get(connection);
    if (turningAway !== undefined) {
      turningAway.cancel();
      this.#turnedAway.delete(connection);
      return;
    }
    this.#admission.leave(clientAddress);
    if (!this.#held.delete(connection)) this.#admission.release(listenerName);
    if (this.#isServing) this.#admitHeld();
  }

  #admitHeld(): void {
    this.#admissionTask?.cancel();
    this.#admissionTask = undefined;
    for (const held of this.#held) {
      if (!this.#admit(held)) continue;
      this.#held.delete(held);
      held.admit();
    }
  }

  #admit({ identity }: BrokerConnection): boolean {
    const outcome = this.#admission.admit(identity.listenerName);
    if (outcome !== 'admitted') {
      const waitMs = outcome === 'full' ? fullCheckMs : outcome;
      this.#admissionTask ??= this.#parts.timer.schedule(waitMs, () => this.#admitHeld());
      return false;
    }
    if (this.#admission.isOverfull) this.#sendAwayAClient();
    return true;
  }

  /** The client that has been quiet for longest makes room for a broker. */
  #sendAwayAClient(): void {
    let quietest: BrokerConnection | undefined;
    for (const connection of this.#connections) {
      if (connection.identity.isPrivileged || this.#held.has(connection) || this.#turnedAway.has(connection)) continue;
      if (quietest === undefined || connection.lastActiveMs < quietest.lastActiveMs) quietest = connection;
    }
    if (quietest === undefined) return;
    this.#parts.logger.info('Closed a connection to make room for a broker', { client: quietest.identity.clientAddress });
    quietest.close();
  }
}
