// ReadShareGroupState (84): Reads the state of share partitions, when a broker becomes their leader.

import { array, int8, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const ReadShareGroupStateRequest = message({
  name: 'ReadShareGroupStateRequest',
  type: 'request',
  apiKey: 84,
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
            leaderEpoch: int32(),
          }),
        ),
      }),
    ),
  },
});
export type ReadShareGroupStateRequest = Message<typeof ReadShareGroupStateRequest>;

export const ReadShareGroupStateResponse = message({
  name: 'ReadShareGroupStateResponse',
  type: 'response',
  apiKey: 84,
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
            stateEpoch: int32(),
            startOffset: int64(),
            stateBatches: array(
              struct({
                firstOffset: int64(),
                lastOffset: int64(),
                deliveryState: int8(),
                deliveryCount: int16(),
              }),
            ),
          }),
        ),
      }),
    ),
  },
});
export type ReadShareGroupStateResponse = Message<typeof ReadShareGroupStateResponse>;
