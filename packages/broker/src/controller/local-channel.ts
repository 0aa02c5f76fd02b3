// The controller's way to the broker that it runs on: a call of the handlers, in the newest version of each request.

import { decodeMessage, encodeMessage, type Message, type MessageDefinition } from '@odradek/protocol';
import type { Handler } from '../requests/handler.ts';
import { anonymousPrincipal, type RequestContext } from '../requests/request-context.ts';
import type { BrokerChannel } from './broker-channel.ts';

export class LocalChannel implements BrokerChannel {
  readonly #brokerId: number;
  #handlers: ReadonlyMap<number, Handler> = new Map();

  constructor(brokerId: number) {
    this.#brokerId = brokerId;
  }

  /** The handlers, which are made after the controller and need it. */
  serve(handlers: readonly Handler[]): void {
    this.#handlers = new Map(handlers.map((handler) => [handler.api.key, handler]));
  }

  async send<Q extends MessageDefinition, A extends MessageDefinition>(
    brokerId: number,
    api: { readonly request: Q; readonly response: A },
    request: Message<Q>,
  ): Promise<Message<A>> {
    if (brokerId !== this.#brokerId) throw new Error(`Broker ${brokerId} cannot be reached from broker ${this.#brokerId}`);
    const apiKey = api.request.apiKey ?? -1;
    const handler = this.#handlers.get(apiKey);
    if (handler === undefined) throw new Error(`${api.request.name} is not served to the controller`);
    const version = handler.api.versions.max;
    const answer = await handler.handle(request, contextOf(apiKey, version));
    // Through its bytes, so that every field is there as if it had come over a connection.
    return decodeMessage(api.response, version, Buffer.concat(encodeMessage(api.response, version, answer ?? {})));
  }
}

function contextOf(apiKey: number, apiVersion: number): RequestContext {
  return {
    apiKey,
    apiVersion,
    correlationId: 0,
    clientId: null,
    connectionId: 'controller',
    clientAddress: '127.0.0.1',
    listenerName: '',
    securityProtocol: 'PLAINTEXT',
    principal: anonymousPrincipal,
    isPrivileged: true,
  };
}
