// InitializeShareGroupState (83): Prepares the share coordinator's state of partitions for a share group.

import { array, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const InitializeShareGroupStateRequest = message({
  name: 'InitializeShareGroupStateRequest',
  type: 'request',
  apiKey: 83,
  versions: '0',
  flexible: '0+',
  fields: {
    groupId: string(),
    topics: array(
      struct({
        topicId: uuid(),
        partitions: array(
          struct({
            partition: int32(),
            stateEpoch: int32(),
            startOffset: int64(),
          }),
        ),
      }),
    ),
  },
});
export type InitializeShareGroupStateRequest = Message<typeof InitializeShareGroupStateRequest>;

export const InitializeShareGroupStateResponse = message({
  name: 'InitializeShareGroupStateResponse',
  type: 'response',
  apiKey: 83,
  versions: '0',
  flexible: '0+',
  fields: {
    results: array(
      struct({
        topicId: uuid(),
        partitions: array(
          struct({
            partition: int32(),
            errorCode: int16(),
            errorMessage: string({ nullable: '0+', default: null }),
          }),
        ),
      }),
    ),
  },
});
export type InitializeShareGroupStateResponse = Message<typeof InitializeShareGroupStateResponse>;
