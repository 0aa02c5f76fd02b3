// The controller's way to all brokers of its cluster: the one it runs on is called directly, the others over connections to the
// listener that brokers use among themselves. To whoever speaks only older versions it is said in their words.

import { type BrokerPool, ConnectionError } from '@odradek/client/connection';
import type { BrokerRegistration } from '@odradek/coordination';
import type { Message, MessageDefinition } from '@odradek/protocol';
import type { BrokerChannel } from './broker-channel.ts';
import type { LocalChannel } from './local-channel.ts';
import { inNewestForm, inVersion } from './older-requests.ts';

export interface ClusterChannelParts {
  readonly local: LocalChannel;
  /** Connections for the controller alone: a request of somebody else must not hold up an order. */
  readonly pool: BrokerPool;
  readonly interBrokerListenerName: string;
  /** controller.socket.timeout.ms */
  readonly timeoutMs: () => number;
}

export class ClusterChannel implements BrokerChannel {
  readonly #parts: ClusterChannelParts;

  constructor(parts: ClusterChannelParts) {
    this.#parts = parts;
  }

  async send<Q extends MessageDefinition, A extends MessageDefinition>(
    broker: BrokerRegistration,
    api: { readonly request: Q; readonly response: A },
    request: Message<Q>,
  ): Promise<Message<A>> {
    const { local, pool, interBrokerListenerName, timeoutMs } = this.#parts;
    if (broker.id === local.brokerId) return local.call(api, request);
    const endpoint = broker.endpoints.find(({ listener }) => listener === interBrokerListenerName);
    if (endpoint === undefined) {
      throw new ConnectionError('unreachable', `Broker ${broker.id} has no listener ${interBrokerListenerName} for other brokers`);
    }
    pool.setNode(broker.id, endpoint);
    const connection = await pool.connection(broker.id);
    const version = connection.version(api);
    const responses: Message<A>[] = [];
    for (const said of inVersion(api.request, request, version)) {
      responses.push(await connection.send(api, said, { version, timeoutMs: timeoutMs() }));
    }
    return inNewestForm(api.request, request, responses, version);
  }

  forget(brokerId: number): void {
    this.#parts.pool.removeNode(brokerId);
  }
}
