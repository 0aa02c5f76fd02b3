// DeleteTopics (20): deletes topics, each with its own outcome. Version 6 can name a topic by its id. From version 3 on the answer
// to a broker that deletes nothing (delete.topic.enable=false) has a code of its own, from version 5 on to a client that deletes more than
// it may.

import {
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  errorCodes,
  type Message,
  type MessageInit,
  ProtocolError,
  zeroUuid,
} from '@odradek/protocol';
import type { TopicChanges, TopicToDelete } from '../admin/topic-changes.ts';
import type { MutationQuotas } from '../quotas/mutation-quotas.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

type TopicResult = NonNullable<MessageInit<typeof DeleteTopicsResponse>['responses']>[number];

export function deleteTopicsHandler(parts: {
  readonly topicChanges: Pick<TopicChanges, 'deleteTopics'>;
  readonly mutationQuotas?: Pick<MutationQuotas, 'budget'>;
}): Handler<typeof DeleteTopicsRequest, typeof DeleteTopicsResponse> {
  return defineHandler(DeleteTopicsRequest, DeleteTopicsResponse, {
    async handle(request, context) {
      const budget = parts.mutationQuotas?.budget(context, 5);
      const asked = topicsOf(request);
      const problems = asked.map((topic) => requestProblem(topic, asked));
      const deleted = await parts.topicChanges.deleteTopics(
        asked.filter((_, index) => problems[index] === undefined),
        { timeoutMs: request.timeoutMs, budget },
      );
      const outcomes = deleted[Symbol.iterator]();
      return {
        throttleTimeMs: budget?.throttleMs ?? 0,
        responses: asked.map((topic, index) => {
          const problem = problems[index];
          if (problem !== undefined) return failedTopic(topic, new ProtocolError(errorCodes.INVALID_REQUEST, problem));
          const outcome = outcomes.next().value ?? { ...topic, error: new ProtocolError(errorCodes.UNKNOWN_SERVER_ERROR) };
          return outcome.error === undefined
            ? { name: outcome.name, topicId: outcome.topicId, errorCode: errorCodes.NONE, errorMessage: null }
            : failedTopic(outcome, outcome.error);
        }),
      };
    },
    errorResponse(request, error, { apiVersion }) {
      const isUnspeakable = error.code === errorCodes.TOPIC_DELETION_DISABLED && apiVersion < 3;
      const told = isUnspeakable ? new ProtocolError(errorCodes.INVALID_REQUEST, 'Topic deletion is disabled.') : error;
      return { responses: topicsOf(request).map((topic) => failedTopic(topic, told)) };
    },
  });
}

/** Before version 6 topics are names only. */
function topicsOf(request: Message<typeof DeleteTopicsRequest>): readonly TopicToDelete[] {
  return [...request.topics, ...request.topicNames.map((name) => ({ name, topicId: zeroUuid }))];
}

function requestProblem(topic: TopicToDelete, asked: readonly TopicToDelete[]): string | undefined {
  const hasId = topic.topicId !== zeroUuid;
  if (topic.name !== null && hasId) return 'Topic name and topic ID can not both be specified.';
  if (topic.name === null && !hasId) return 'Neither topic name nor topic ID was specified.';
  const isTwice = asked.filter(({ name, topicId }) => name === topic.name && topicId === topic.topicId).length > 1;
  return isTwice ? 'The request names this topic more than once.' : undefined;
}

function failedTopic({ name, topicId }: TopicToDelete, error: ProtocolError): TopicResult {
  return { name, topicId, errorCode: error.code, errorMessage: error.message };
}
