// DeleteTopics (20): Deletes topics.
//
//   1  adds throttleTimeMs to the response
//   2  is as 1: the client waits itself when it is throttled
//   3  may answer TOPIC_DELETION_DISABLED
//   4  is flexible
//   5  explains errors; may answer THROTTLING_QUOTA_EXCEEDED; adds errorMessage to the response
//   6  can name topics by id; adds topics to the request, topicId to the response; drops topicNames from the request; allows
//      null as name in the response

import { array, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const DeleteTopicsRequest = message({
  name: 'DeleteTopicsRequest',
  type: 'request',
  apiKey: 20,
  versions: '0-6',
  flexible: '4+',
  fields: {
    /** From version 6 on in place of topicNames. */
    topics: array(
      struct({
        /** Null: named by id. */
        name: string({ nullable: '0+', default: null }),
        topicId: uuid(),
      }),
      { versions: '6+' },
    ),
    /** Up to version 5. */
    topicNames: array(string(), { versions: '0-5', ignorable: true }),
    /** How long to wait until they are gone. */
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
        /** Null: there is no topic with this id. */
        name: string({ nullable: '6+' }),
        topicId: uuid({ versions: '6+', ignorable: true }),
        errorCode: int16(),
        errorMessage: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
      }),
    ),
  },
});
export type DeleteTopicsResponse = Message<typeof DeleteTopicsResponse>;
