// StopReplica (5): the controller takes replicas away from this broker, and has their logs deleted when their topic is.

import { StopReplicaRequest, StopReplicaResponse } from '@odradek/protocol';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import { type BrokerRequestParts, checkControllerRequest } from './controller-requests.ts';

export function stopReplicaHandler(
  parts: BrokerRequestParts & {
    readonly replicaManager: ReplicaManager;
    readonly brokerEpoch: () => number;
  },
): Handler<typeof StopReplicaRequest, typeof StopReplicaResponse> {
  return defineHandler(StopReplicaRequest, StopReplicaResponse, {
    handle(request, context) {
      checkControllerRequest(request, context, parts);
      return parts.replicaManager.stopReplicas(request);
    },
  });
}
