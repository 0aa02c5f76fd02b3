// The brokers of a cluster by number, and one connection to each, opened when it is first wanted and again after it broke.
//
// Who fails to connect, or breaks a connection, is left alone for a while before the next attempt: twice as long each time, up to a
// limit, and a bit more or less, so that many clients do not come back at the same moment.

import type { Message, MessageDefinition } from '@odradek/protocol';
import type { Clock, Logger, Random, TimerTask } from '@odradek/runtime';
import {
  Connection,
  type ConnectionOptions,
  type ConnectionParts,
  type Exchange,
  type RequestInit,
  type SendOptions,
} from './connection.ts';
import { ConnectionError } from './connection-error.ts';

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export interface BrokerPoolParts extends ConnectionParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface BrokerPoolOptions extends ConnectionOptions {
  /** reconnect.backoff.ms and reconnect.backoff.max.ms; default 50 and 1,000, as Kafka has them. */
  readonly reconnectBackoffMs?: number;
  readonly reconnectBackoffMaxMs?: number;
  /** Whether whoever answers must be the broker of that number in `clusterId` (where it knows how to check that). Default false. */
  readonly checksNodeId?: boolean;
}

/** What is known of one broker. */
interface Node {
  readonly id: number;
  address: NodeAddress;
  connection: Connection | undefined;
  /** The connection that is being opened, or waited for. */
  opening: Promise<Connection> | undefined;
  /** Attempts that have failed since the last that did not. */
  failures: number;
  /** Monotonic; before that there is no next attempt. */
  notBeforeMs: number;
  /** Ends a wait for the next attempt. */
  waiting: { readonly task: TimerTask; readonly cancel: () => void } | undefined;
}

/** As Kafka: each wait is up to a fifth shorter or longer. */
const jitter = 0.2;

export class BrokerPool {
  readonly #parts: BrokerPoolParts;
  readonly #options: BrokerPoolOptions;
  readonly #nodes = new Map<number, Node>();
  #isClosed = false;

  constructor(parts: BrokerPoolParts, options: BrokerPoolOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** The brokers known. */
  get nodeIds(): Iterable<number> {
    return this.#nodes.keys();
  }

  /** A broker is there, or has moved: then the connection to where it was is closed. */
  setNode(id: number, address: NodeAddress): void {
    const known = this.#nodes.get(id);
    if (known !== undefined) {
      if (known.address.host === address.host && known.address.port === address.port) return;
      this.removeNode(id);
    }
    const { host, port } = address;
    this.#nodes.set(id, {
      id,
      address: { host, port },
      connection: undefined,
      opening: undefined,
      failures: 0,
      notBeforeMs: Number.NEGATIVE_INFINITY,
      waiting: undefined,
    });
  }

  /** The broker is gone. Requests under way to it are rejected. */
  removeNode(id: number): void {
    const node = this.#nodes.get(id);
    if (node === undefined) return;
    this.#nodes.delete(id);
    node.waiting?.cancel();
    node.connection?.close();
  }

  /** Breaks the connection to a broker, if there is one; the next request opens another. */
  disconnect(id: number, reason?: ConnectionError): void {
    this.#nodes.get(id)?.connection?.close(reason);
  }

  /** The connection if it is open at this moment. */
  openConnection(id: number): Connection | undefined {
    const connection = this.#nodes.get(id)?.connection;
    return connection?.isClosed === false ? connection : undefined;
  }

  /**
   * The connection to a broker, opened if need be, after the wait that earlier failures demand. Rejects with a ConnectionError when the
   * attempt fails; whoever wants more asks again.
   */
  connection(id: number): Promise<Connection> {
    const open = this.openConnection(id);
    if (open !== undefined) return Promise.resolve(open);
    const node = this.#nodes.get(id);
    if (this.#isClosed || node === undefined) {
      return Promise.reject(new ConnectionError('unreachable', `The address of broker ${id} is not known`));
    }
    node.opening ??= this.#open(node).finally(() => {
      node.opening = undefined;
    });
    return node.opening;
  }

  /** Sends a request to a broker and gives the answer's message. Rejects with a ConnectionError. */
  async send<Q extends MessageDefinition, A extends MessageDefinition>(
    id: number,
    exchange: Exchange<Q, A>,
    request: RequestInit<Q>,
    options?: SendOptions,
  ): Promise<Message<A>> {
    return (await this.connection(id)).send(exchange, request, options);
  }

  /** Closes all connections. Nothing is opened afterwards. */
  close(): void {
    this.#isClosed = true;
    for (const id of [...this.#nodes.keys()]) this.removeNode(id);
  }

  async #open(node: Node): Promise<Connection> {
    const { clock } = this.#parts;
    const waitMs = node.notBeforeMs - clock.monotonicMs();
    if (waitMs > 0) await this.#wait(node, waitMs);
    const address = this.#options.checksNodeId === true ? { ...node.address, nodeId: node.id } : node.address;
    let connection: Connection;
    try {
      connection = await Connection.open(address, this.#parts, this.#options);
    } catch (error) {
      node.failures += 1;
      this.#backOff(node);
      throw error;
    }
    if (this.#nodes.get(node.id) !== node) {
      connection.close();
      throw gone(node);
    }
    node.connection = connection;
    node.failures = 0;
    connection.closed
      .then((reason) => {
        this.#parts.logger.debug(`The connection to broker ${node.id} ended: ${reason.message}`);
        if (node.connection !== connection) return;
        node.connection = undefined;
        this.#backOff(node);
      })
      .catch((error: unknown) => this.#parts.logger.error('A closed connection could not be let go', { error }));
    return connection;
  }

  #backOff(node: Node): void {
    const { reconnectBackoffMs = 50, reconnectBackoffMaxMs = 1_000 } = this.#options;
    const exponent = Math.max(0, node.failures - 1);
    const waitMs = Math.min(reconnectBackoffMaxMs, reconnectBackoffMs * 2 ** Math.min(exponent, 30));
    const factor = 1 + jitter * (2 * this.#parts.random.next() - 1);
    node.notBeforeMs = this.#parts.clock.monotonicMs() + waitMs * factor;
  }

  #wait(node: Node, waitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const task = this.#parts.timer.schedule(waitMs, () => {
        node.waiting = undefined;
        resolve();
      });
      const cancel = (): void => {
        task.cancel();
        reject(gone(node));
      };
      node.waiting = { task, cancel };
    });
  }
}

function gone(node: Node): ConnectionError {
  return new ConnectionError('closed', `Broker ${node.id} at ${node.address.host}:${node.address.port} is not wanted any more`);
}
