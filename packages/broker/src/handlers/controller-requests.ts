// What LeaderAndIsr, StopReplica and UpdateMetadata have in common: they come from the controller, and only from it.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { RequestContext } from '../requests/request-context.ts';

/** Throws CLUSTER_AUTHORIZATION_FAILED for clients, and STALE_BROKER_EPOCH for orders to an earlier life of this broker. */
export function checkControllerRequest(
  request: { readonly brokerEpoch: number },
  context: RequestContext,
  brokerEpoch: () => number,
): void {
  if (!context.isPrivileged) throw new ProtocolError(errorCodes.CLUSTER_AUTHORIZATION_FAILED);
  if (request.brokerEpoch !== -1 && request.brokerEpoch < brokerEpoch()) throw new ProtocolError(errorCodes.STALE_BROKER_EPOCH);
}
