// All guards, and how they are put before the handlers. A handler without a guard is a hole, so it is an error.

import type { Handler } from '../../requests/handler.ts';
import { clusterGuards } from './cluster-guards.ts';
import { dataGuards } from './data-guards.ts';
import { groupGuards } from './group-guards.ts';
import type { GuardParts } from './guard.ts';
import { topicGuards } from './topic-guards.ts';

const guards = new Map([...dataGuards, ...topicGuards, ...groupGuards, ...clusterGuards].map((guard) => [guard.apiKey, guard]));

export function guarded(handlers: readonly Handler[], parts: GuardParts): Handler[] {
  return handlers.map((handler) => {
    const guard = guards.get(handler.api.key);
    if (guard === undefined) throw new Error(`There is no rule for who may ask for ${handler.api.name}`);
    return guard.wrap(handler, parts);
  });
}
