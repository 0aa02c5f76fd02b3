// ListPartitionReassignments (46): the moves of partitions that are under way: all, or those of the partitions asked for. A
// partition that is not being moved, or does not exist, is not mentioned. Only the active controller knows; another broker
// answers NOT_CONTROLLER.

import { errorCodes, ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse } from '@odradek/protocol';
import type { Controller } from '../controller/controller.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function listPartitionReassignmentsHandler(parts: {
  readonly controller: () => Pick<Controller, 'reassignments'>;
}): Handler<typeof ListPartitionReassignmentsRequest, typeof ListPartitionReassignmentsResponse> {
  return defineHandler(ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, {
    async handle({ topics }) {
      const moves = await parts.controller().reassignments();
      const wanted =
        topics && new Set(topics.flatMap(({ name, partitionIndexes }) => partitionIndexes.map((index) => `${index} ${name}`)));
      const told = wanted === null ? moves : moves.filter(({ topic, partition }) => wanted.has(`${partition} ${topic}`));
      const byTopic = Map.groupBy(told, ({ topic }) => topic);
      return {
        errorCode: errorCodes.NONE,
        topics: Array.from(byTopic, ([name, partitions]) => ({
          name,
          partitions: partitions.map(({ partition, replicas, addingReplicas, removingReplicas }) => ({
            partitionIndex: partition,
            replicas: [...replicas],
            addingReplicas: [...addingReplicas],
            removingReplicas: [...removingReplicas],
          })),
        })),
      };
    },
    // Who may not ask is told of the partitions asked for, with nothing about them.
    errorResponse: ({ topics }, { code, message }) => ({
      errorCode: code,
      errorMessage: message,
      topics: code === errorCodes.CLUSTER_AUTHORIZATION_FAILED ? (topics ?? []).map(withoutReplicas) : [],
    }),
  });
}

function withoutReplicas({ name, partitionIndexes }: NonNullable<ListPartitionReassignmentsRequest['topics']>[number]) {
  const nothing = { replicas: [], addingReplicas: [], removingReplicas: [] };
  return { name, partitions: partitionIndexes.map((partitionIndex) => ({ partitionIndex, ...nothing })) };
}
