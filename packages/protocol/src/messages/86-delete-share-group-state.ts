// DeleteShareGroupState (86): Deletes the state of share partitions.

import { array, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const DeleteShareGroupStateRequest = message({
  name: 'DeleteShareGroupStateRequest',
  type: 'request',
  apiKey: 86,
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
          }),
        ),
      }),
    ),
  },
});
export type DeleteShareGroupStateRequest = Message<typeof DeleteShareGroupStateRequest>;

export const DeleteShareGroupStateResponse = message({
  name: 'DeleteShareGroupStateResponse',
  type: 'response',
  apiKey: 86,
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
export type DeleteShareGroupStateResponse = Message<typeof DeleteShareGroupStateResponse>;
