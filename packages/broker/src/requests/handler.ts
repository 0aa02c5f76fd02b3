// One handler answers one API, in all of its versions. The router decodes the request, calls the handler and encodes the
// answer; an error that the handler throws becomes an answer in one place, through `errorResponse`.

import { type Api, apiByKey, type Message, type MessageDefinition, type MessageInit, type ProtocolError } from '@odradek/protocol';
import type { RequestContext } from './request-context.ts';

/** null: the request gets no answer (a produce request with acks=0). */
export type Answer<A extends MessageDefinition> = MessageInit<A> | null;

export interface Handler<Q extends MessageDefinition = MessageDefinition, A extends MessageDefinition = MessageDefinition> {
  readonly api: Api;
  /**
   * True: the connection may begin its next request, if that is one of the same kind, while this one waits for its answer.
   * Only for handlers whose effects are over when `handle` returns, promise or not. Answers keep their order in any case.
   */
  readonly mayOverlap: boolean;
  /** The answer to a version that is not served, written in the lowest version. Without it the connection is closed. */
  readonly unsupportedVersion: (() => MessageInit<A>) | undefined;
  handle(request: Message<Q>, context: RequestContext): Answer<A> | Promise<Answer<A>>;
  /** The answer when the whole request fails with this error. */
  errorResponse(request: Message<Q>, error: ProtocolError, context: RequestContext): MessageInit<A>;
}

export interface HandlerFunctions<Q extends MessageDefinition, A extends MessageDefinition> {
  handle(request: Message<Q>, context: RequestContext): Answer<A> | Promise<Answer<A>>;
  /** Needed where the response carries its error inside an array; else the error goes to the response's `errorCode`. */
  errorResponse?(request: Message<Q>, error: ProtocolError, context: RequestContext): MessageInit<A>;
  readonly mayOverlap?: boolean;
  unsupportedVersion?(): MessageInit<A>;
}

export function defineHandler<Q extends MessageDefinition, A extends MessageDefinition>(
  request: Q,
  _response: A,
  functions: HandlerFunctions<Q, A>,
): Handler<Q, A> {
  const api = request.apiKey === undefined ? undefined : apiByKey(request.apiKey);
  if (api === undefined) throw new Error(`${request.name} is not a request that this broker serves`);
  return {
    api,
    mayOverlap: functions.mayOverlap ?? false,
    unsupportedVersion: functions.unsupportedVersion?.bind(functions),
    handle: (body, context) => functions.handle(body, context),
    errorResponse: (body, error, context) => functions.errorResponse?.(body, error, context) ?? topLevelError<A>(error),
  };
}

/** Most responses have these two fields; the codec ignores the one that a response has not. */
function topLevelError<A extends MessageDefinition>(error: ProtocolError): MessageInit<A> {
  return { errorCode: error.code, errorMessage: error.message } as unknown as MessageInit<A>;
}
