// Produce (0): TODO
//
// Version 1 adds throttleTimeMs to the response. Version 2 adds logAppendTimeMs to the response. Version 3 adds transactionalId
// to the request. Version 4 has the same layout. Version 5 adds logStartOffset to the response. Versions 6 and 7 have the same
// layout. Version 8 adds recordErrors and errorMessage to the response. Version 9 is the first flexible one. Version 10 adds
// currentLeader and nodeEndpoints to the response. Versions 11 and 12 have the same layout. Version 13 adds topicId to the
// request, adds topicId to the response, drops name from the request, and drops name from the response.

import { array, int16, int32, int64, type Message, message, records, string, struct, uuid } from '../schema/define.ts';

export const ProduceRequest = message({
  name: 'ProduceRequest',
  type: 'request',
  apiKey: 0,
  versions: '0-13',
  flexible: '9+',
  fields: {
    transactionalId: string({ versions: '3+', nullable: '0+', default: null }),
    acks: int16(),
    timeoutMs: int32(),
    topicData: array(
      struct({
        name: string({ versions: '0-12', ignorable: true }),
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitionData: array(
          struct({
            index: int32(),
            records: records({ nullable: '0+' }),
          }),
        ),
      }),
    ),
  },
});
export type ProduceRequest = Message<typeof ProduceRequest>;

export const ProduceResponse = message({
  name: 'ProduceResponse',
  type: 'response',
  apiKey: 0,
  versions: '0-13',
  flexible: '9+',
  fields: {
    responses: array(
      struct({
        name: string({ versions: '0-12', ignorable: true }),
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitionResponses: array(
          struct({
            index: int32(),
            errorCode: int16(),
            baseOffset: int64(),
            logAppendTimeMs: int64({ versions: '2+', default: -1, ignorable: true }),
            logStartOffset: int64({ versions: '5+', default: -1, ignorable: true }),
            recordErrors: array(
              struct({
                batchIndex: int32(),
                batchIndexErrorMessage: string({ nullable: '0+', default: null }),
              }),
              { versions: '8+', ignorable: true },
            ),
            errorMessage: string({ versions: '8+', nullable: '0+', default: null, ignorable: true }),
            currentLeader: struct(
              {
                leaderId: int32({ default: -1 }),
                leaderEpoch: int32({ default: -1 }),
              },
              { versions: '10+', tag: 0 },
            ),
          }),
        ),
      }),
    ),
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    nodeEndpoints: array(
      struct({
        nodeId: int32(),
        host: string(),
        port: int32(),
        rack: string({ nullable: '0+', default: null }),
      }),
      { versions: '10+', tag: 0 },
    ),
  },
});
export type ProduceResponse = Message<typeof ProduceResponse>;
