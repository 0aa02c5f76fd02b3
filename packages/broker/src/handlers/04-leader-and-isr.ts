// LeaderAndIsr (4): the controller says who leads which partitions. Up to version 4 the answer names topics, from 5 on their ids.

import { LeaderAndIsrRequest, LeaderAndIsrResponse } from '@odradek/protocol';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import { type BrokerRequestParts, checkControllerRequest } from './controller-requests.ts';

export function leaderAndIsrHandler(
  parts: BrokerRequestParts & {
    readonly replicaManager: ReplicaManager;
    readonly brokerEpoch: () => number;
  },
): Handler<typeof LeaderAndIsrRequest, typeof LeaderAndIsrResponse> {
  return defineHandler(LeaderAndIsrRequest, LeaderAndIsrResponse, {
    async handle(request, context) {
      checkControllerRequest(request, context, parts);
      const { errorCode, topics } = await parts.replicaManager.becomeLeaderOrFollower(request);
      if (context.apiVersion >= 5) return { errorCode, topics };
      return { errorCode, partitionErrors: topics.flatMap(({ partitionErrors }) => partitionErrors) };
    },
  });
}
