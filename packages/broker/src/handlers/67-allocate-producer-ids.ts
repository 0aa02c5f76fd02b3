// AllocateProducerIds (67): a broker gets a block of producer ids from the active controller; another broker answers NOT_CONTROLLER.

import { AllocateProducerIdsRequest, AllocateProducerIdsResponse, errorCodes } from '@odradek/protocol';
import type { Controller } from '../controller/controller.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import { type BrokerRequestParts, checkFromBroker } from './controller-requests.ts';

export function allocateProducerIdsHandler(
  parts: BrokerRequestParts & { readonly controller: () => Pick<Controller, 'allocateProducerIds'> },
): Handler<typeof AllocateProducerIdsRequest, typeof AllocateProducerIdsResponse> {
  return defineHandler(AllocateProducerIdsRequest, AllocateProducerIdsResponse, {
    async handle({ brokerId, brokerEpoch }, context) {
      checkFromBroker(context, parts);
      const { first, count } = await parts.controller().allocateProducerIds(brokerId, brokerEpoch);
      return { errorCode: errorCodes.NONE, producerIdStart: first, producerIdLen: count };
    },
  });
}
