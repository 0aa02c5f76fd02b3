// ControlledShutdown (7): a broker is about to stop, and the controller moves its leaderships to others. The answer names the
// partitions that the broker still leads, because nobody else is in sync; it asks again, or stops all the same. Brokers before
// version 2 do not tell their epoch. Only the active controller does this; another broker answers STALE_CONTROLLER_EPOCH, as Kafka does.

import { ControlledShutdownRequest, ControlledShutdownResponse, errorCodes } from '@odradek/protocol';
import type { Controller } from '../controller/controller.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import { type BrokerRequestParts, checkFromBroker } from './controller-requests.ts';

export function controlledShutdownHandler(
  parts: BrokerRequestParts & { readonly controller: () => Pick<Controller, 'shutDownBroker'> },
): Handler<typeof ControlledShutdownRequest, typeof ControlledShutdownResponse> {
  return defineHandler(ControlledShutdownRequest, ControlledShutdownResponse, {
    async handle({ brokerId, brokerEpoch }, context) {
      checkFromBroker(context, parts);
      const remaining = await parts.controller().shutDownBroker(brokerId, brokerEpoch);
      return {
        errorCode: errorCodes.NONE,
        remainingPartitions: remaining.map(({ topic, partition }) => ({ topicName: topic, partitionIndex: partition })),
      };
    },
    errorResponse: (_, { code }) => ({
      errorCode: code === errorCodes.NOT_CONTROLLER ? errorCodes.STALE_CONTROLLER_EPOCH : code,
    }),
  });
}
