// ElectLeaders (43): elects the preferred leaders of partitions, or, since version 1, a replica that is not in sync where nobody
// else is left. Only the active controller does that; another broker answers NOT_CONTROLLER for each partition, and no error as a whole.
//
// Each partition has its own outcome. Who asks for all partitions does not hear of those that had nothing to elect.

import { ElectLeadersRequest, ElectLeadersResponse, errorCodes, type MessageInit, ProtocolError } from '@odradek/protocol';
import type { Controller, PartitionElection } from '../controller/controller.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

/** What `electionType` says. */
const electionTypes = ['preferred', 'unclean'] as const;

export function electLeadersHandler(parts: {
  readonly controller: () => Pick<Controller, 'electLeaders'>;
  readonly metadataCache: Pick<MetadataCache, 'current'>;
}): Handler<typeof ElectLeadersRequest, typeof ElectLeadersResponse> {
  return defineHandler(ElectLeadersRequest, ElectLeadersResponse, {
    async handle({ electionType, topicPartitions }) {
      const type = electionTypes[electionType];
      if (type === undefined) throw new ProtocolError(errorCodes.INVALID_REQUEST, `There is no election type ${electionType}.`);
      const elections = await parts.controller().electLeaders(type, topicPartitions && partitionsIn(topicPartitions));
      const told = topicPartitions === null ? elections.filter(({ error }) => !isNotNeeded(error)) : elections;
      return { errorCode: errorCodes.NONE, replicaElectionResults: resultsOf(told) };
    },
    errorResponse({ topicPartitions }, error, { apiVersion }) {
      const isElsewhere = error.code === errorCodes.NOT_CONTROLLER;
      const all = isElsewhere ? allPartitions(parts.metadataCache) : [];
      const refused = (topicPartitions === null ? all : partitionsIn(topicPartitions)).map((partition) => ({
        ...partition,
        error,
      }));
      const replicaElectionResults = resultsOf(refused);
      return isElsewhere || apiVersion === 0 ? { replicaElectionResults } : { errorCode: error.code, replicaElectionResults };
    },
  });
}

function partitionsIn(topics: NonNullable<ElectLeadersRequest['topicPartitions']>): { topic: string; partition: number }[] {
  const partitions = new Map<string, { topic: string; partition: number }>();
  for (const { topic, partitions: indexes } of topics) {
    for (const partition of indexes) partitions.set(`${partition} ${topic}`, { topic, partition });
  }
  return [...partitions.values()];
}

function allPartitions({ current }: Pick<MetadataCache, 'current'>): { topic: string; partition: number }[] {
  return [...current.topics()].flatMap(({ name, partitions }) =>
    partitions.map(({ index }) => ({ topic: name, partition: index })),
  );
}

function isNotNeeded(error: ProtocolError | undefined): boolean {
  return error?.code === errorCodes.ELECTION_NOT_NEEDED;
}

type TopicResult = NonNullable<MessageInit<typeof ElectLeadersResponse>['replicaElectionResults']>[number];

function resultsOf(elections: readonly PartitionElection[]): TopicResult[] {
  const byTopic = Map.groupBy(elections, ({ topic }) => topic);
  return Array.from(byTopic, ([topic, partitions]) => ({
    topic,
    partitionResult: partitions.map(({ partition, error }) => ({
      partitionId: partition,
      errorCode: error?.code ?? errorCodes.NONE,
      errorMessage: error?.message ?? null,
    })),
  }));
}
