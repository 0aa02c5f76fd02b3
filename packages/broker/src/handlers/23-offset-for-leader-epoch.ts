// OffsetForLeaderEpoch (23): where a leader epoch ends in the log, so that a reader finds out where its own log, or its position,
// parts from it. Version 1 answers the epoch too, 2 checks the asker's idea of the current one.

import {
  errorCodes,
  type MessageInit,
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
  ProtocolError,
} from '@odradek/protocol';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

type Asked = OffsetForLeaderEpochRequest['topics'][number]['partitions'][number];
type TopicAnswer = NonNullable<MessageInit<typeof OffsetForLeaderEpochResponse>['topics']>[number];
type PartitionAnswer = NonNullable<TopicAnswer['partitions']>[number];

export function offsetForLeaderEpochHandler(parts: {
  readonly replicaManager: ReplicaManager;
}): Handler<typeof OffsetForLeaderEpochRequest, typeof OffsetForLeaderEpochResponse> {
  return defineHandler(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, {
    handle: (request) => ({
      topics: request.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map((asked) => answerFor(parts.replicaManager, topic, asked)),
      })),
    }),
    errorResponse: (request, error) => ({
      topics: request.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition }) => unknown(partition, error.code)),
      })),
    }),
  });
}

function answerFor(replicaManager: ReplicaManager, topic: string, asked: Asked): PartitionAnswer {
  const { partition, currentLeaderEpoch, leaderEpoch } = asked;
  try {
    const log = replicaManager.partition(topic, partition).logForOffsets(currentLeaderEpoch, true);
    const end = log.endOffsetForEpoch(leaderEpoch);
    return { errorCode: errorCodes.NONE, partition, leaderEpoch: end.leaderEpoch, endOffset: end.endOffset };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return unknown(partition, error.code);
  }
}

function unknown(partition: number, errorCode: number): PartitionAnswer {
  return { errorCode, partition, leaderEpoch: -1, endOffset: -1 };
}
