// What requests between brokers have in common: they come from a broker, and only from one.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { RequestContext } from '../requests/request-context.ts';

export interface BrokerRequestParts {
  /** Whether the request may have come from a broker of this cluster. */
  readonly isFromBroker: (context: RequestContext) => boolean;
}

/** Throws CLUSTER_AUTHORIZATION_FAILED for clients. */
export function checkFromBroker(context: RequestContext, { isFromBroker }: BrokerRequestParts): void {
  if (!isFromBroker(context)) throw new ProtocolError(errorCodes.CLUSTER_AUTHORIZATION_FAILED);
}

/** Of LeaderAndIsr, StopReplica and UpdateMetadata; throws also STALE_BROKER_EPOCH for orders to an earlier life of this broker. */
export function checkControllerRequest(
  request: { readonly brokerEpoch: number },
  context: RequestContext,
  parts: BrokerRequestParts & { readonly brokerEpoch: () => number },
): void {
  checkFromBroker(context, parts);
  if (request.brokerEpoch !== -1 && request.brokerEpoch < parts.brokerEpoch()) {
    throw new ProtocolError(errorCodes.STALE_BROKER_EPOCH);
  }
}
