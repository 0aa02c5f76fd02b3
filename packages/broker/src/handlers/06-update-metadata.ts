// UpdateMetadata (6): the controller tells every broker what the cluster looks like.

import { errorCodes, UpdateMetadataRequest, UpdateMetadataResponse } from '@odradek/protocol';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import { type BrokerRequestParts, checkControllerRequest } from './controller-requests.ts';

export function updateMetadataHandler(
  parts: BrokerRequestParts & {
    readonly metadataCache: MetadataCache;
    readonly replicaManager: Pick<ReplicaManager, 'controllerEpoch'>;
    readonly brokerEpoch: () => number;
  },
): Handler<typeof UpdateMetadataRequest, typeof UpdateMetadataResponse> {
  return defineHandler(UpdateMetadataRequest, UpdateMetadataResponse, {
    handle(request, context) {
      checkControllerRequest(request, context, parts);
      const isTaken = request.controllerEpoch >= parts.replicaManager.controllerEpoch && parts.metadataCache.update(request);
      return { errorCode: isTaken ? errorCodes.NONE : errorCodes.STALE_CONTROLLER_EPOCH };
    },
  });
}
