// CreateTopics (19): creates topics, each with its own outcome. From version 5 on the answer tells the partitions, replicas and
// configurations that each topic got, from version 7 on its id. With validateOnly nothing is created. From version 6 on topics are refused
// to a client that creates more than it may.

import { CreateTopicsRequest, CreateTopicsResponse, errorCodes, type MessageInit, ProtocolError } from '@odradek/protocol';
import { type ConfigEntry, topicEntries } from '../admin/config-entries.ts';
import type { CreatedTopic, TopicChanges } from '../admin/topic-changes.ts';
import type { BrokerConfig } from '../broker-config.ts';
import { clusterMetadataTopic } from '../metadata/metadata-cache.ts';
import type { MutationQuotas } from '../quotas/mutation-quotas.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import { repeatedNames } from '../requests/repeated-names.ts';

type TopicResult = NonNullable<MessageInit<typeof CreateTopicsResponse>['topics']>[number];

export function createTopicsHandler(parts: {
  readonly topicChanges: Pick<TopicChanges, 'createTopics'>;
  readonly config: BrokerConfig;
  readonly mutationQuotas?: Pick<MutationQuotas, 'budget'>;
}): Handler<typeof CreateTopicsRequest, typeof CreateTopicsResponse> {
  return defineHandler(CreateTopicsRequest, CreateTopicsResponse, {
    async handle({ topics, timeoutMs, validateOnly }, context) {
      const budget = parts.mutationQuotas?.budget(context, 6);
      const repeated = repeatedNames(topics);
      const problemWith = (name: string): string | undefined => {
        if (repeated.has(name)) return 'The request names this topic more than once.';
        return name === clusterMetadataTopic ? 'A cluster without ZooKeeper keeps its own state under this name.' : undefined;
      };
      const created = await parts.topicChanges.createTopics(
        topics.filter(({ name }) => problemWith(name) === undefined),
        { timeoutMs, validateOnly, budget },
      );
      const entriesOf = topicEntriesOf(parts.config);
      const results = new Map(created.map((topic) => [topic.name, topicResult(topic, entriesOf)]));
      return {
        throttleTimeMs: budget?.throttleMs ?? 0,
        topics: topics.map(
          ({ name }) => results.get(name) ?? failedTopic(name, new ProtocolError(errorCodes.INVALID_REQUEST, problemWith(name))),
        ),
      };
    },
    errorResponse: ({ topics }, error) => ({ topics: topics.map(({ name }) => failedTopic(name, error)) }),
  });
}

/** The entries of a topic. Those of topics without values of their own are the same for all, and made once. */
function topicEntriesOf(config: BrokerConfig): (topic: CreatedTopic) => ConfigEntry[] {
  let defaults: ConfigEntry[] | undefined;
  return ({ configs }) => {
    if (configs.size > 0) return topicEntries(config, configs);
    defaults ??= topicEntries(config, configs);
    return defaults;
  };
}

function topicResult(topic: CreatedTopic, entriesOf: (topic: CreatedTopic) => ConfigEntry[]): TopicResult {
  if (topic.error !== undefined) return { ...failedTopic(topic.name, topic.error), topicId: topic.topicId };
  return {
    name: topic.name,
    topicId: topic.topicId,
    errorCode: errorCodes.NONE,
    errorMessage: null,
    numPartitions: topic.numPartitions,
    replicationFactor: topic.replicationFactor,
    configs: entriesOf(topic),
  };
}

function failedTopic(name: string, error: ProtocolError): TopicResult {
  return { name, errorCode: error.code, errorMessage: error.message, numPartitions: -1, replicationFactor: -1, configs: [] };
}
