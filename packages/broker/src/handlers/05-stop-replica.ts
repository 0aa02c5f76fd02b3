// StopReplica (5): the controller takes replicas away from this broker, and has their logs deleted when their topic is.

import { StopReplicaRequest, StopReplicaResponse } from '@odradek/protocol';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import { checkControllerRequest } from './controller-requests.ts';

export function stopReplicaHandler(parts: {
  readonly replicaManager: ReplicaManager;
  readonly brokerEpoch: () => number;
}): Handler<typeof StopReplicaRequest, typeof StopReplicaResponse> {
  return defineHandler(StopReplicaRequest, StopReplicaResponse, {
    handle(request, context) {
      checkControllerRequest(request, context, parts.brokerEpoch);
      return parts.replicaManager.stopReplicas(request);
    },
  });
}
