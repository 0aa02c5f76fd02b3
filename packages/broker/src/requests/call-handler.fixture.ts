// For tests: a handler called as a client would call it, through the bytes of one version there and back.

import { decodeMessage, encodeToBuffer, type Message, type MessageDefinition, type MessageInit } from '@odradek/protocol';
import type { Handler } from './handler.ts';
import { anonymousPrincipal, type RequestContext } from './request-context.ts';

export function requestContext(apiKey: number, apiVersion: number): RequestContext {
  return {
    apiKey,
    apiVersion,
    correlationId: 1,
    clientId: 'test',
    connectionId: '127.0.0.1:9092-127.0.0.1:50000-0',
    clientAddress: '127.0.0.1',
    listenerName: 'PLAINTEXT',
    securityProtocol: 'PLAINTEXT',
    principal: anonymousPrincipal,
    isPrivileged: false,
  };
}

/** Errors that the handler throws are answered as the router does. Throws when the request or the answer does not fit the version. */
export async function callHandler<Q extends MessageDefinition, A extends MessageDefinition>(
  handler: Handler<Q, A>,
  version: number,
  request: MessageInit<Q>,
): Promise<Message<A>> {
  const { api } = handler;
  const definitions = { request: api.request as Q, response: api.response as A };
  const decoded = decodeMessage(definitions.request, version, encodeToBuffer(definitions.request, version, request));
  const context = requestContext(api.key, version);
  let answer: MessageInit<A> | null;
  try {
    answer = await handler.handle(decoded, context);
  } catch (error) {
    answer = handler.errorResponse(decoded, error as Parameters<typeof handler.errorResponse>[1], context);
  }
  if (answer === null) throw new Error('the handler gave no answer');
  return decodeMessage(definitions.response, version, encodeToBuffer(definitions.response, version, answer));
}

/** Every version that the broker serves. */
export function versionsOf({ api }: Pick<Handler, 'api'>): number[] {
  return Array.from({ length: api.versions.max - api.versions.min + 1 }, (_, index) => api.versions.min + index);
}
