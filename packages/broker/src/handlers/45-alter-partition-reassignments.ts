// AlterPartitionReassignments (45): moves partitions to other brokers, or, where no replicas are given, stops such a move. Each partition
// has its own outcome; the answer comes when the moves have begun, not when they are done. From version 1 on the request can forbid to
// change how many replicas there are. Only the active controller does this; another broker answers NOT_CONTROLLER.

import {
  AlterPartitionReassignmentsRequest,
  AlterPartitionReassignmentsResponse,
  errorCodes,
  type ProtocolError,
} from '@odradek/protocol';
import type { Controller } from '../controller/controller.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function alterPartitionReassignmentsHandler(parts: {
  readonly controller: () => Pick<Controller, 'alterReassignments'>;
}): Handler<typeof AlterPartitionReassignmentsRequest, typeof AlterPartitionReassignmentsResponse> {
  return defineHandler(AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, {
    async handle({ topics, allowReplicationFactorChange }) {
      // Of a partition that is named twice the last target counts.
      const moves = new Map(
        topics.flatMap(({ name, partitions }) =>
          partitions.map(({ partitionIndex, replicas }) => [
            `${partitionIndex} ${name}`,
            { topic: name, partition: partitionIndex, target: replicas ?? undefined },
          ]),
        ),
      );
      const outcomes = await parts.controller().alterReassignments([...moves.values()], {
        mayChangeReplicationFactor: allowReplicationFactorChange,
      });
      const byTopic = Map.groupBy(outcomes, ({ topic }) => topic);
      return {
        allowReplicationFactorChange,
        errorCode: errorCodes.NONE,
        errorMessage: '',
        responses: Array.from(byTopic, ([name, partitions]) => ({
          name,
          partitions: partitions.map(({ partition, error }) => ({
            partitionIndex: partition,
            errorCode: error?.code ?? errorCodes.NONE,
            errorMessage: error?.message ?? null,
          })),
        })),
      };
    },
    errorResponse: ({ allowReplicationFactorChange, topics }, error) => ({
      allowReplicationFactorChange,
      errorCode: error.code,
      errorMessage: error.message,
      responses: isRefusal(error)
        ? topics.map(({ name, partitions }) => ({ name, partitions: partitions.map(failed(error)) }))
        : [],
    }),
  });
}

/** Who may not ask is told so of each partition too; everything else is told of the request alone. */
function isRefusal({ code }: ProtocolError): boolean {
  return code === errorCodes.CLUSTER_AUTHORIZATION_FAILED;
}

function failed({ code, message }: ProtocolError) {
  return ({ partitionIndex }: { readonly partitionIndex: number }) => ({ partitionIndex, errorCode: code, errorMessage: message });
}
