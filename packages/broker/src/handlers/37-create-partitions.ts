// CreatePartitions (37): gives topics more partitions, each topic with its own outcome. With validateOnly nothing changes. From version 3
// on topics are refused to a client that creates more than it may.

import { CreatePartitionsRequest, CreatePartitionsResponse, errorCodes, ProtocolError } from '@odradek/protocol';
import type { TopicChanges } from '../admin/topic-changes.ts';
import type { MutationQuotas } from '../quotas/mutation-quotas.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import { repeatedNames } from '../requests/repeated-names.ts';

export function createPartitionsHandler(parts: {
  readonly topicChanges: Pick<TopicChanges, 'createPartitions'>;
  readonly mutationQuotas?: Pick<MutationQuotas, 'budget'>;
}): Handler<typeof CreatePartitionsRequest, typeof CreatePartitionsResponse> {
  return defineHandler(CreatePartitionsRequest, CreatePartitionsResponse, {
    async handle({ topics, timeoutMs, validateOnly }, context) {
      const budget = parts.mutationQuotas?.budget(context, 3);
      const repeated = repeatedNames(topics);
      const grown = await parts.topicChanges.createPartitions(
        topics.filter(({ name }) => !repeated.has(name)),
        { timeoutMs, validateOnly, budget },
      );
      const twice = new ProtocolError(errorCodes.INVALID_REQUEST, 'The request names this topic more than once.');
      const errors = new Map(grown.map(({ name, error }) => [name, error]));
      return {
        throttleTimeMs: budget?.throttleMs ?? 0,
        results: namesIn(topics).map((name) => {
          const error = repeated.has(name) ? twice : errors.get(name);
          return { name, errorCode: error?.code ?? errorCodes.NONE, errorMessage: error?.message ?? null };
        }),
      };
    },
    errorResponse: ({ topics }, error) => ({
      results: namesIn(topics).map((name) => ({ name, errorCode: error.code, errorMessage: error.message })),
    }),
  });
}

/** A topic that is named twice is answered once. */
function namesIn(topics: readonly { readonly name: string }[]): string[] {
  return [...new Set(topics.map(({ name }) => name))];
}
