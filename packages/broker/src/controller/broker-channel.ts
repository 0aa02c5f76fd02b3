// How the controller reaches a broker: over a connection, or, when it is the broker itself, by a direct call of the handlers.

import type { BrokerRegistration } from '@odradek/coordination';
import type { Message, MessageDefinition } from '@odradek/protocol';

export interface BrokerChannel {
  /**
   * Sends LeaderAndIsr, StopReplica or UpdateMetadata and answers the response. The controller sends one at a time to each broker,
   * so order is kept; request and response have every field, as in the newest version. Rejects when the broker cannot be reached:
   * the controller tries again while the broker is registered.
   */
  send<Q extends MessageDefinition, A extends MessageDefinition>(
    broker: BrokerRegistration,
    api: { readonly request: Q; readonly response: A },
    request: Message<Q>,
  ): Promise<Message<A>>;
  /** The broker is gone: what is under way to it fails. */
  forget(brokerId: number): void;
}
