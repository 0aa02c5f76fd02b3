// A guard stands before the handler of one API and lets it see only what the asker may touch; the rest is refused as Kafka refuses it.
// Handlers are guarded only where there is an authorizer, so without one nothing is checked and nothing costs anything.

import { errorCodes, type Message, type MessageDefinition, type MessageInit, ProtocolError } from '@odradek/protocol';
import type { MetadataCache } from '../../metadata/metadata-cache.ts';
import type { Answer, Handler } from '../../requests/handler.ts';
import type { RequestContext } from '../../requests/request-context.ts';
import type { AclOperation } from '../acl.ts';
import type { Authorizer } from '../authorizer.ts';

export interface GuardParts {
  readonly authorizer: Authorizer;
  readonly metadataCache: Pick<MetadataCache, 'current'>;
  readonly brokerId: number;
  readonly isActiveController: () => boolean;
  /** auto.create.topics.enable */
  readonly autoCreatesTopics: () => boolean;
}

export interface Guard {
  readonly apiKey: number;
  wrap(handler: Handler, parts: GuardParts): Handler;
}

/** What a guard works with: the parts and the handler behind it. */
export interface Guarded<Q extends MessageDefinition, A extends MessageDefinition> extends GuardParts {
  readonly handler: Handler<Q, A>;
}

export function guardOf<Q extends MessageDefinition, A extends MessageDefinition>(
  request: Q,
  _response: A,
  handle: (request: Message<Q>, context: RequestContext, guarded: Guarded<Q, A>) => Answer<A> | Promise<Answer<A>>,
): Guard {
  return {
    apiKey: request.apiKey ?? -1,
    wrap(handler, parts) {
      const guarded = { ...parts, handler: handler as unknown as Handler<Q, A> };
      return { ...handler, handle: (body, context) => handle(body as Message<Q>, context, guarded) };
    },
  };
}

/** For what needs no permission, or whose handler looks itself. */
export function openTo(request: MessageDefinition): Guard {
  return { apiKey: request.apiKey ?? -1, wrap: (handler) => handler };
}

/**
 * For what every broker but the active controller refuses to everybody: who asks is not looked at there. With other things that only the
 * controller does Kafka looks first at who asks, and their handlers say NOT_CONTROLLER.
 */
export function atController(guard: Guard): Guard {
  return {
    apiKey: guard.apiKey,
    wrap(handler, parts) {
      const guarded = guard.wrap(handler, parts);
      return {
        ...guarded,
        handle: (body, context) => {
          if (!parts.isActiveController()) throw refusal('NOT_CONTROLLER');
          return guarded.handle(body, context);
        },
      };
    },
  };
}

/** The whole request needs a permission on the cluster. */
export function clusterGuard<Q extends MessageDefinition, A extends MessageDefinition>(
  request: Q,
  response: A,
  operation: AclOperation,
): Guard {
  return guardOf(request, response, (body, context, { authorizer, handler }) => {
    if (!authorizer.mayOnCluster(context, operation)) throw refusal('CLUSTER_AUTHORIZATION_FAILED');
    return handler.handle(body, context);
  });
}

/** The whole request needs a permission on the group that it names. */
export function groupGuard<Q extends MessageDefinition, A extends MessageDefinition>(
  request: Q,
  response: A,
  operation: AclOperation,
): Guard {
  return guardOf(request, response, (body, context, { authorizer, handler }) => {
    checkGroup(authorizer, context, operation, (body as unknown as { readonly groupId: string }).groupId);
    return handler.handle(body, context);
  });
}

export function checkGroup(authorizer: Authorizer, context: RequestContext, operation: AclOperation, groupId: string): void {
  if (!authorizer.may(context, operation, 'Group', groupId)) throw refusal('GROUP_AUTHORIZATION_FAILED');
}

type ItemsOf<T> = { readonly [K in keyof T]: NonNullable<T[K]> extends readonly (infer Item)[] ? Item : never };

/** What one thing that is named in a request is refused with; undefined: it is allowed. */
export type RefusalOf<Item> = (item: Item, context: RequestContext, parts: GuardParts) => keyof typeof errorCodes | undefined;

/**
 * For requests that name things one by one: the handler sees those that are allowed, and its own form of an error is what is answered for
 * the others.
 */
export function itemGuard<
  Q extends MessageDefinition,
  A extends MessageDefinition,
  K extends string & keyof Message<Q>,
  L extends string & keyof MessageInit<A>,
>(request: Q, response: A, items: K, answers: L, refusalOf: RefusalOf<ItemsOf<Message<Q>>[K]>): Guard {
  return guardOf(request, response, (body, context, guarded) => handleItems(body, context, guarded, items, answers, refusalOf));
}

export async function handleItems<
  Q extends MessageDefinition,
  A extends MessageDefinition,
  K extends string & keyof Message<Q>,
  L extends string & keyof MessageInit<A>,
>(
  body: Message<Q>,
  context: RequestContext,
  guarded: Guarded<Q, A>,
  items: K,
  answers: L,
  refusalOf: RefusalOf<ItemsOf<Message<Q>>[K]>,
): Promise<Answer<A>> {
  type Item = ItemsOf<Message<Q>>[K];
  const { handler } = guarded;
  const byRefusal = Map.groupBy((body[items] ?? []) as readonly Item[], (item) => refusalOf(item, context, guarded));
  const allowed = byRefusal.get(undefined) ?? [];
  byRefusal.delete(undefined);
  if (byRefusal.size === 0) return await handler.handle(body, context);
  const withItems = (some: readonly Item[]) => ({ ...body, [items]: some }) as Message<Q>;
  const answer = await handler.handle(withItems(allowed), context);
  const refused = [...byRefusal].flatMap(([code, some]) => {
    const failed = handler.errorResponse(withItems(some), refusal(code ?? 'UNKNOWN_SERVER_ERROR'), context);
    return listIn(failed, answers);
  });
  return { ...answer, [answers]: [...listIn(answer, answers), ...refused] } as MessageInit<A>;
}

function listIn<T>(answer: T, field: string & keyof NonNullable<T>): readonly unknown[] {
  return (answer?.[field] ?? []) as readonly unknown[];
}

export function refusal(code: keyof typeof errorCodes): ProtocolError {
  return new ProtocolError(errorCodes[code]);
}

/** For topics by name. */
export function topicRefusal<Item>(
  operation: AclOperation,
  nameOf: (item: Item, parts: GuardParts) => string | undefined,
): RefusalOf<Item> {
  return (item, context, parts) => {
    const name = nameOf(item, parts);
    // What nobody knows by this id is the handler's to say.
    if (name === undefined || parts.authorizer.may(context, operation, 'Topic', name)) return undefined;
    return 'TOPIC_AUTHORIZATION_FAILED';
  };
}
