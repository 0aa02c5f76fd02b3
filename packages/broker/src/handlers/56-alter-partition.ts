// AlterPartition (56): a leader asks for other in-sync replicas of its partitions, and the controller writes them. Each partition has
// its own outcome, and the answer tells the state that holds now. Versions 0 and 1 name topics, later ones their ids; version 1 tells
// of recovery from an unclean election, version 3 the epochs of the brokers, so that one which has restarted does not slip in.
//
// A replica whose broker is not alive, or about to stop, is INELIGIBLE_REPLICA; leaders before version 2 know only
// OPERATION_NOT_ATTEMPTED for that. Only the active controller answers; another broker says NOT_CONTROLLER.

import { AlterPartitionRequest, AlterPartitionResponse, errorCodes, type MessageInit } from '@odradek/protocol';
import type { AlteredPartition, Controller, PartitionAlteration } from '../controller/controller.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import { type BrokerRequestParts, checkFromBroker } from './controller-requests.ts';

const firstVersionWithTopicIds = 2;
const firstVersionWithEpochs = 3;

type RequestedTopic = AlterPartitionRequest['topics'][number];
type TopicResult = NonNullable<MessageInit<typeof AlterPartitionResponse>['topics']>[number];

export function alterPartitionHandler(
  parts: BrokerRequestParts & { readonly controller: () => Pick<Controller, 'alterPartitions'> },
): Handler<typeof AlterPartitionRequest, typeof AlterPartitionResponse> {
  return defineHandler(AlterPartitionRequest, AlterPartitionResponse, {
    async handle({ brokerId, brokerEpoch, topics }, context) {
      checkFromBroker(context, parts);
      const { apiVersion } = context;
      const outcomes = await parts.controller().alterPartitions(
        { brokerId, brokerEpoch },
        topics.flatMap((topic) => alterationsOf(topic, brokerId, apiVersion)),
        {
          ineligibleCode:
            apiVersion >= firstVersionWithTopicIds ? errorCodes.INELIGIBLE_REPLICA : errorCodes.OPERATION_NOT_ATTEMPTED,
        },
      );
      const results = outcomes[Symbol.iterator]();
      return {
        errorCode: errorCodes.NONE,
        topics: topics.map(({ topicName, topicId, partitions }) => ({
          topicName,
          topicId,
          partitions: partitions.map(({ partitionIndex }) => partitionResult(partitionIndex, results.next().value)),
        })),
      };
    },
  });
}

function alterationsOf(
  { topicName, topicId, partitions }: RequestedTopic,
  brokerId: number,
  apiVersion: number,
): PartitionAlteration[] {
  const hasIds = apiVersion >= firstVersionWithTopicIds;
  return partitions.map((partition) => {
    const replicas =
      apiVersion >= firstVersionWithEpochs
        ? partition.newIsrWithEpochs
        : partition.newIsr.map((replica) => ({ brokerId: replica, brokerEpoch: -1 }));
    return {
      topic: hasIds ? { id: topicId } : { name: topicName },
      partition: partition.partitionIndex,
      leader: brokerId,
      leaderEpoch: partition.leaderEpoch,
      isr: replicas.map((replica) => replica.brokerId),
      brokerEpochs: new Map(replicas.map((replica) => [replica.brokerId, replica.brokerEpoch])),
      isLeaderRecovering: partition.leaderRecoveryState === 1,
      partitionEpoch: partition.partitionEpoch,
    };
  });
}

function partitionResult(
  partitionIndex: number,
  outcome: AlteredPartition | undefined,
): NonNullable<TopicResult['partitions']>[number] {
  if (outcome?.leadership === undefined)
    return { partitionIndex, errorCode: outcome?.errorCode ?? errorCodes.UNKNOWN_SERVER_ERROR };
  const { leader, leaderEpoch, isr, isLeaderRecovering, partitionEpoch } = outcome.leadership;
  return {
    partitionIndex,
    errorCode: errorCodes.NONE,
    leaderId: leader,
    leaderEpoch,
    isr: [...isr],
    leaderRecoveryState: isLeaderRecovering ? 1 : 0,
    partitionEpoch,
  };
}
