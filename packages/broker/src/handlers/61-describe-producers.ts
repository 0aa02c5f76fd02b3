// DescribeProducers (61): the producers of a partition as this broker's replica knows them, whether it leads or follows: for finding
// transactions that hang, and on which replica.

import {
  DescribeProducersRequest,
  DescribeProducersResponse,
  errorCodes,
  type MessageInit,
  ProtocolError,
} from '@odradek/protocol';
import { topicNameProblem } from '../config/topic-name.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

type TopicAnswer = NonNullable<MessageInit<typeof DescribeProducersResponse>['topics']>[number];
type PartitionAnswer = NonNullable<TopicAnswer['partitions']>[number];

export function describeProducersHandler(parts: {
  readonly replicaManager: ReplicaManager;
}): Handler<typeof DescribeProducersRequest, typeof DescribeProducersResponse> {
  return defineHandler(DescribeProducersRequest, DescribeProducersResponse, {
    handle: (request) => ({
      topics: request.topics.map(({ name, partitionIndexes }) => ({
        name,
        partitions: partitionIndexes.map((index) => describe(parts.replicaManager, name, index)),
      })),
    }),
    errorResponse: (request, error) => ({
      topics: request.topics.map(({ name, partitionIndexes }) => ({
        name,
        partitions: partitionIndexes.map((index) => refused(index, error)),
      })),
    }),
  });
}

function describe(replicaManager: ReplicaManager, topic: string, index: number): PartitionAnswer {
  try {
    const problem = topicNameProblem(topic);
    if (problem !== undefined) throw new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION, problem);
    const { log } = replicaManager.partition(topic, index);
    return {
      partitionIndex: index,
      errorCode: errorCodes.NONE,
      activeProducers: log.activeProducers().map((producer) => ({
        producerId: producer.producerId,
        producerEpoch: producer.producerEpoch,
        lastSequence: producer.lastSequence,
        lastTimestamp: producer.lastTimestamp,
        coordinatorEpoch: producer.coordinatorEpoch,
        currentTxnStartOffset: producer.currentTxnStartOffset,
      })),
    };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return refused(index, error);
  }
}

function refused(index: number, error: ProtocolError): PartitionAnswer {
  return { partitionIndex: index, errorCode: error.code, errorMessage: error.message };
}
