// The way from this broker to the controller, whoever that is at the moment: this broker itself or another. What is sent is sent again,
// to the controller of the moment, until it answers or the time is up.

import { type BrokerPool, ConnectionError } from '@odradek/client/connection';
import { errorCodes, type Message, type MessageDefinition } from '@odradek/protocol';
import type { Clock, Timer } from '@odradek/runtime';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import type { LocalChannel } from './local-channel.ts';

export interface ControllerClientParts {
  readonly local: LocalChannel;
  readonly metadataCache: MetadataCache;
  /** Connections for requests to the controller alone. */
  readonly pool: BrokerPool;
  readonly interBrokerListenerName: string;
  /** controller.socket.timeout.ms: how long one attempt may take. */
  readonly timeoutMs: () => number;
  readonly clock: Clock;
  readonly timer: Timer;
}

/** Between two attempts; Kafka's. */
const retryDelayMs = 100;

export class ControllerClient {
  readonly #parts: ControllerClientParts;
  /** Ends a wait. */
  readonly #waits = new Set<() => void>();
  #isClosed = false;

  constructor(parts: ControllerClientParts) {
    this.#parts = parts;
  }

  /** The controller that this broker knows of; -1: none. */
  get controllerId(): number {
    return this.#parts.metadataCache.current.controllerId;
  }

  /**
   * The controller's answer, which may be an error, but not NOT_CONTROLLER. `patienceMs` is for how long it is tried; without it, until this is
   * closed. Rejects with the ConnectionError of the last attempt.
   */
  async send<Q extends MessageDefinition, A extends MessageDefinition>(
    exchange: { readonly request: Q; readonly response: A },
    request: Message<Q>,
    { patienceMs = Number.POSITIVE_INFINITY }: { readonly patienceMs?: number } = {},
  ): Promise<Message<A>> {
    const { clock } = this.#parts;
    const deadlineMs = clock.monotonicMs() + patienceMs;
    for (;;) {
      let failure: ConnectionError;
      try {
        const response = await this.#sendOnce(exchange, request);
        if (errorCodeOf(response) !== errorCodes.NOT_CONTROLLER) return response;
        failure = new ConnectionError('unreachable', `Broker ${this.controllerId} is not the controller`);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        failure = error;
      }
      if (this.#isClosed || clock.monotonicMs() + retryDelayMs > deadlineMs) throw failure;
      await this.#wait();
    }
  }

  /** What waits is given up. */
  close(): void {
    this.#isClosed = true;
    for (const end of [...this.#waits]) end();
  }

  async #sendOnce<Q extends MessageDefinition, A extends MessageDefinition>(
    exchange: { readonly request: Q; readonly response: A },
    request: Message<Q>,
  ): Promise<Message<A>> {
    const { local, metadataCache, pool, interBrokerListenerName, timeoutMs } = this.#parts;
    const { controllerId } = this;
    if (controllerId === local.brokerId) return local.call(exchange, request);
    const endpoint = metadataCache.current.endpoint(controllerId, interBrokerListenerName);
    if (endpoint === undefined) throw new ConnectionError('unreachable', 'No controller is known that could be reached');
    pool.setNode(controllerId, endpoint);
    return pool.send(controllerId, exchange, request, { timeoutMs: timeoutMs() });
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#waits.delete(end);
        task.cancel();
        resolve();
      };
      const task = this.#parts.timer.schedule(retryDelayMs, end);
      this.#waits.add(end);
    });
  }
}

/** Every answer of the controller has one. */
function errorCodeOf(response: unknown): number {
  return typeof response === 'object' && response !== null && 'errorCode' in response
    ? Number(response.errorCode)
    : errorCodes.NONE;
}
