// CreatePartitions (37): TODO
//
// Version 1 has the same layout. Version 2 is the first flexible one. Version 3 has the same layout.

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
        count: int32(),
        assignments: array(
          struct({
            brokerIds: array(int32()),
          }),
          { nullable: '0+' },
        ),
      }),
    ),
    timeoutMs: int32(),
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
        errorMessage: string({ nullable: '0+', default: null }),
      }),
    ),
  },
});
export type CreatePartitionsResponse = Message<typeof CreatePartitionsResponse>;
