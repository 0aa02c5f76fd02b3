// InitProducerId (22): an id for a producer, so that the log can tell repetitions from new records.
//
// A producer without a transactional id gets a fresh id each time. With one it would get the id and the next epoch that the
// transaction coordinator keeps; as long as this broker has none, the answer is COORDINATOR_NOT_AVAILABLE.

import { errorCodes, InitProducerIdRequest, InitProducerIdResponse, ProtocolError } from '@odradek/protocol';
import type { ProducerIds } from '../controller/producer-ids.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function initProducerIdHandler(parts: {
  readonly producerIds: ProducerIds;
}): Handler<typeof InitProducerIdRequest, typeof InitProducerIdResponse> {
  return defineHandler(InitProducerIdRequest, InitProducerIdResponse, {
    async handle(request) {
      check(request);
      if (request.transactionalId !== null) throw new ProtocolError(errorCodes.COORDINATOR_NOT_AVAILABLE);
      return { errorCode: errorCodes.NONE, producerId: await parts.producerIds.next(), producerEpoch: 0 };
    },
    errorResponse: (_request, error) => ({ errorCode: error.code, producerId: -1, producerEpoch: -1 }),
  });
}

function check({ transactionalId, producerId, producerEpoch }: InitProducerIdRequest): void {
  if (transactionalId === '') throw new ProtocolError(errorCodes.INVALID_REQUEST, 'A transactional id cannot be empty');
  // An id without its epoch, or the other way round, says nothing.
  if ((producerId === -1) !== (producerEpoch === -1)) throw new ProtocolError(errorCodes.INVALID_REQUEST);
}
