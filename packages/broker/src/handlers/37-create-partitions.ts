// CreatePartitions (37): gives topics more partitions, each topic with its own outcome. With validateOnly nothing changes.

import { CreatePartitionsRequest, CreatePartitionsResponse, errorCodes, ProtocolError } from '@odradek/protocol';
import type { TopicChanges } from '../admin/topic-changes.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function createPartitionsHandler(parts: {
  readonly topicChanges: Pick<TopicChanges, 'createPartitions'>;
}): Handler<typeof CreatePartitionsRequest, typeof CreatePartitionsResponse> {
  return defineHandler(CreatePartitionsRequest, CreatePartitionsResponse, {
    async handle({ topics, timeoutMs, validateOnly }) {
      const names = topics.map(({ name }) => name);
      const isTwice = (name: string) => names.indexOf(name) !== names.lastIndexOf(name);
      const grown = await parts.topicChanges.createPartitions(
        topics.filter(({ name }) => !isTwice(name)),
        { timeoutMs, validateOnly },
      );
      const twice = new ProtocolError(errorCodes.INVALID_REQUEST, 'The request names this topic more than once.');
      const errors = new Map(grown.map(({ name, error }) => [name, error]));
      return {
        results: [...new Set(names)].map((name) => {
          const error = isTwice(name) ? twice : errors.get(name);
          return { name, errorCode: error?.code ?? errorCodes.NONE, errorMessage: error?.message ?? null };
        }),
      };
    },
    errorResponse: ({ topics }, error) => ({
      results: topics.map(({ name }) => ({ name, errorCode: error.code, errorMessage: error.message })),
    }),
  });
}
