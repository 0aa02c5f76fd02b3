// CreateTopics (19): TODO
//
// Version 1 adds validateOnly to the request and adds errorMessage to the response. Version 2 adds throttleTimeMs to the
// response. Versions 3 and 4 have the same layout. Version 5 is the first flexible one and adds topicConfigErrorCode,
// numPartitions, replicationFactor and configs to the response. Version 6 has the same layout. Version 7 adds topicId to the
// response.

import { array, bool, int8, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const CreateTopicsRequest = message({
  name: 'CreateTopicsRequest',
  type: 'request',
  apiKey: 19,
  versions: '0-7',
  flexible: '5+',
  fields: {
    topics: array(
      struct({
        name: string(),
        numPartitions: int32(),
        replicationFactor: int16(),
        assignments: array(
          struct({
            partitionIndex: int32(),
            brokerIds: array(int32()),
          }),
        ),
        configs: array(
          struct({
            name: string(),
            value: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
    timeoutMs: int32({ default: 60000 }),
    validateOnly: bool({ versions: '1+' }),
  },
});
export type CreateTopicsRequest = Message<typeof CreateTopicsRequest>;

export const CreateTopicsResponse = message({
  name: 'CreateTopicsResponse',
  type: 'response',
  apiKey: 19,
  versions: '0-7',
  flexible: '5+',
  fields: {
    throttleTimeMs: int32({ versions: '2+', ignorable: true }),
    topics: array(
      struct({
        name: string(),
        topicId: uuid({ versions: '7+', ignorable: true }),
        errorCode: int16(),
        errorMessage: string({ versions: '1+', nullable: '0+', ignorable: true }),
        topicConfigErrorCode: int16({ versions: '5+', tag: 0, ignorable: true }),
        numPartitions: int32({ versions: '5+', default: -1, ignorable: true }),
        replicationFactor: int16({ versions: '5+', default: -1, ignorable: true }),
        configs: array(
          struct({
            name: string(),
            value: string({ nullable: '0+' }),
            readOnly: bool(),
            configSource: int8({ default: -1, ignorable: true }),
            isSensitive: bool(),
          }),
          { versions: '5+', nullable: '0+', ignorable: true },
        ),
      }),
    ),
  },
});
export type CreateTopicsResponse = Message<typeof CreateTopicsResponse>;
