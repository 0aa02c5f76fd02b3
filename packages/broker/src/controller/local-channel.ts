// The way from a broker to itself: from its controller to its handlers, and from its other parts to its controller. A call of the handlers,
// in the newest version of each request.

import { decodeMessage, encodeMessage, type Message, type MessageDefinition, ProtocolError } from '@odradek/protocol';
import type { Answer, Handler } from '../requests/handler.ts';
import { anonymousPrincipal, type RequestContext } from '../requests/request-context.ts';

export class LocalChannel {
  readonly brokerId: number;
  #handlers: ReadonlyMap<number, Handler> = new Map();

  constructor(brokerId: number) {
    this.brokerId = brokerId;
  }

  /** The handlers, which are made after the controller and need it. */
  serve(handlers: readonly Handler[]): void {
    this.#handlers = new Map(handlers.map((handler) => [handler.api.key, handler]));
  }

  /** Calls the handler and gives its answer in the form of the newest version. */
  async call<Q extends MessageDefinition, A extends MessageDefinition>(
    api: { readonly request: Q; readonly response: A },
    request: Message<Q>,
  ): Promise<Message<A>> {
    const apiKey = api.request.apiKey ?? -1;
    const handler = this.#handlers.get(apiKey);
    if (handler === undefined) throw new Error(`${api.request.name} is not served within the process`);
    const version = handler.api.versions.max;
    const answer = await answerOf(handler, request, contextOf(apiKey, version));
    // Through its bytes, so that every field is there as if it had come over a connection.
    return decodeMessage(api.response, version, Buffer.concat(encodeMessage(api.response, version, answer ?? {})));
  }
}

/** A refusal is an answer, as over a connection. */
async function answerOf(
  handler: Handler,
  request: Message<MessageDefinition>,
  context: RequestContext,
): Promise<Answer<MessageDefinition>> {
  try {
    return await handler.handle(request, context);
  } catch (error) {
    if (error instanceof ProtocolError) return handler.errorResponse(request, error, context);
    throw error;
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
