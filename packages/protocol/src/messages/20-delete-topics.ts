// DeleteTopics (20): TODO
//
// Version 1 adds throttleTimeMs to the response. Versions 2 and 3 have the same layout. Version 4 is the first flexible one.
// Version 5 adds errorMessage to the response. Version 6 adds topics to the request, adds topicId to the response, drops
// topicNames from the request, and lets name be null in the response.

import { array, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const DeleteTopicsRequest = message({
  name: 'DeleteTopicsRequest',
  type: 'request',
  apiKey: 20,
  versions: '0-6',
  flexible: '4+',
  fields: {
    topics: array(
      struct({
        name: string({ nullable: '0+', default: null }),
        topicId: uuid(),
      }),
      { versions: '6+' },
    ),
    topicNames: array(string(), { versions: '0-5', ignorable: true }),
    timeoutMs: int32(),
  },
});
export type DeleteTopicsRequest = Message<typeof DeleteTopicsRequest>;

export const DeleteTopicsResponse = message({
  name: 'DeleteTopicsResponse',
  type: 'response',
  apiKey: 20,
  versions: '0-6',
  flexible: '4+',
  fields: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    responses: array(
      struct({
        name: string({ nullable: '6+' }),
        topicId: uuid({ versions: '6+', ignorable: true }),
        errorCode: int16(),
        errorMessage: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
      }),
    ),
  },
});
export type DeleteTopicsResponse = Message<typeof DeleteTopicsResponse>;
