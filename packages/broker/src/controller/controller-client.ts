// The way from this broker to the controller, whoever that is at the moment: this broker itself or another. It can be asked once, or again,
// and then whoever is the controller by then, until it answers or the time is up.

import { type BrokerPool, ConnectionError, type RequestInit, type SendOptions } from '@odradek/client/connection';
import { decodeMessage, encodeToBuffer, errorCodes, type Message, type MessageDefinition } from '@odradek/protocol';
import type { Clock, Timer } from '@odradek/runtime';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import type { LocalChannel } from './local-channel.ts';

export interface ControllerClientParts {
  readonly local: LocalChannel;
  readonly metadataCache: MetadataCache;
  /** Connections for these requests alone. */
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
   * Asks whoever is the controller as far as this broker was told; if that is wrong, the answer says so. Rejects with a ConnectionError
   * when nobody could be asked.
   */
  async ask<Q extends MessageDefinition, A extends MessageDefinition>(
    exchange: { readonly request: Q; readonly response: A },
    request: RequestInit<Q>,
    options: Pick<SendOptions, 'maxVersion'> = {},
  ): Promise<Message<A>> {
    const { local, metadataCache, pool, interBrokerListenerName, timeoutMs } = this.#parts;
    const { controllerId } = this;
    if (controllerId === local.brokerId) return local.call(exchange, asReceived(exchange.request, request));
    const endpoint = metadataCache.current.endpoint(controllerId, interBrokerListenerName);
    if (endpoint === undefined) throw new ConnectionError('unreachable', 'No controller is known that could be reached');
    pool.setNode(controllerId, endpoint);
    return pool.send(controllerId, exchange, request, { ...options, timeoutMs: timeoutMs() });
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
        const response = await this.ask(exchange, request);
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

/** In its newest version, with every field. */
function asReceived<Q extends MessageDefinition>(definition: Q, request: RequestInit<Q>): Message<Q> {
  const { max: version } = definition.versions;
  const init = typeof request === 'function' ? request(version) : request;
  return decodeMessage(definition, version, encodeToBuffer(definition, version, init));
}

/** Every answer of the controller has one. */
function errorCodeOf(response: unknown): number {
  return typeof response === 'object' && response !== null && 'errorCode' in response
    ? Number(response.errorCode)
    : errorCodes.NONE;
}
