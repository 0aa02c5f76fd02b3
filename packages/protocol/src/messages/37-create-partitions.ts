// CreatePartitions (37): Gives topics more partitions.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible
//   3  may answer THROTTLING_QUOTA_EXCEEDED

import { array, bool, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const CreatePartitionsRequest = message({
  name: 'CreatePartitionsRequest',
  type: 'request',
  apiKey: 37,
  versions: '0-3',
  flexible: '2+',
  fields: {
    topics: array(
      struct({
        name: string(),
        /** How many there will be. */
        count: int32(),
        /** Of the new ones only; null: the controller decides. */
        assignments: array(
          struct({
            brokerIds: array(int32()),
          }),
          { nullable: '0+' },
        ),
      }),
    ),
    /** How long to wait until they are there. */
    timeoutMs: int32(),
    /** Whether to check everything and create nothing. */
    validateOnly: bool(),
  },
});
export type CreatePartitionsRequest = Message<typeof CreatePartitionsRequest>;

export const CreatePartitionsResponse = message({
  name: 'CreatePartitionsResponse',
  type: 'response',
  apiKey: 37,
  versions: '0-3',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32(),
    results: array(
      struct({
        name: string(),
        errorCode: int16(),
        /** Null: see the code. */
        errorMessage: string({ nullable: '0+', default: null }),
      }),
    ),
  },
});
export type CreatePartitionsResponse = Message<typeof CreatePartitionsResponse>;
