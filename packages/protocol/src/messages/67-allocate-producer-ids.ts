// AllocateProducerIds (67): A broker gets a block of producer ids from the controller.

import { int16, int32, int64, type Message, message } from '../schema/define.ts';

export const AllocateProducerIdsRequest = message({
  name: 'AllocateProducerIdsRequest',
  type: 'request',
  apiKey: 67,
  versions: '0',
  flexible: '0+',
  fields: {
    brokerId: int32(),
    brokerEpoch: int64({ default: -1 }),
  },
});
export type AllocateProducerIdsRequest = Message<typeof AllocateProducerIdsRequest>;

export const AllocateProducerIdsResponse = message({
  name: 'AllocateProducerIdsResponse',
  type: 'response',
  apiKey: 67,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    /** The first of the block. */
    producerIdStart: int64(),
    /** How many there are. */
    producerIdLen: int32(),
  },
});
export type AllocateProducerIdsResponse = Message<typeof AllocateProducerIdsResponse>;
