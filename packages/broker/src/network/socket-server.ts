// The listeners of a broker and the connections that came in through them, with the limits on their number.
//
// A listener is open before the broker is ready, because the broker must tell its port to the others; who connects so early waits.
//
// `max.connections` holds new connections back unread until an old one goes, as Kafka does by not accepting them; beyond as many
// as the backlog allows they are refused. `max.connections.per.ip` refuses at once.

import {
  BufferPool,
  type ByteStream,
  type Clock,
  type Listener,
  type Logger,
  type Network,
  type StreamReceiver,
  type Timer,
} from '@odradek/runtime';
import type { ListenerAddress } from '../config/listeners.ts';
import { anonymousPrincipal } from '../requests/request-context.ts';
import { BrokerConnection, type FrameHandler } from './broker-connection.ts';
import { RequestMemory } from './request-memory.ts';

export interface SocketServerLimits {
  readonly maxRequestBytes: number;
  /** 0 or less: none. */
  readonly maxQueuedRequestBytes: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerIp: number;
  readonly maxConnectionsPerIpOverrides: ReadonlyMap<string, number>;
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
}

export class SocketServer {
  readonly #parts: SocketServerParts;
  readonly #memory: RequestMemory;
  readonly #framePool = new BufferPool({ largestBytes: 2 * 1024 * 1024, maxIdleBytes: 32 * 1024 * 1024 });
  readonly #listeners: { readonly address: ListenerAddress; readonly listener: Listener }[] = [];
  readonly #connections = new Set<BrokerConnection>();
  readonly #connectionsPerIp = new Map<string, number>();
  /** Connections beyond `max.connections`, not read yet, the longest waiting first. */
  readonly #held = new Set<BrokerConnection>();
  #isServing = false;
  #nextConnectionNumber = 0;

  constructor(parts: SocketServerParts) {
    this.#parts = parts;
    this.#memory = new RequestMemory(parts.limits().maxQueuedRequestBytes);
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
    const fromThisIp = (this.#connectionsPerIp.get(clientAddress) ?? 0) + 1;
    this.#connectionsPerIp.set(clientAddress, fromThisIp);
    this.#connections.add(connection);
    const maxPerIp = limits.maxConnectionsPerIpOverrides.get(clientAddress) ?? limits.maxConnectionsPerIp;
    if (fromThisIp > maxPerIp) {
      logger.warn('Refused a connection: too many from this address', { client: clientAddress, limit: maxPerIp });
      connection.close();
    } else if (!this.#isServing || this.#connections.size - this.#held.size > limits.maxConnections) {
      if (this.#held.size >= limits.backlog) {
        logger.warn('Refused a connection: too many are open', { client: clientAddress, limit: limits.maxConnections });
        connection.close();
      } else {
        this.#held.add(connection);
        connection.hold();
      }
    }
    return connection;
  }

  /** Whether only brokers come in through the listener: clients have another. */
  #isDedicated(name: string): boolean {
    return this.#listeners.some(({ address }) => address.name !== name);
  }

  #forget(connection: BrokerConnection): void {
    this.#connections.delete(connection);
    this.#held.delete(connection);
    const { clientAddress } = connection.identity;
    const left = (this.#connectionsPerIp.get(clientAddress) ?? 1) - 1;
    if (left > 0) this.#connectionsPerIp.set(clientAddress, left);
    else this.#connectionsPerIp.delete(clientAddress);
    if (this.#isServing) this.#admitHeld();
  }

  #admitHeld(): void {
    if (this.#held.size === 0) return;
    const { maxConnections } = this.#parts.limits();
    for (const held of this.#held) {
      if (this.#connections.size - this.#held.size >= maxConnections) break;
      this.#held.delete(held);
      held.admit();
    }
  }
}
