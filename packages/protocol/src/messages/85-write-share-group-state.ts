// WriteShareGroupState (85): Writes the state of share partitions.
//
//   1  tells how many deliveries were completed; adds deliveryCompleteCount to the request

import { array, int8, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const WriteShareGroupStateRequest = message({
  name: 'WriteShareGroupStateRequest',
  type: 'request',
  apiKey: 85,
  versions: '0-1',
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
            leaderEpoch: int32(),
            startOffset: int64(),
            deliveryCompleteCount: int32({ versions: '1+', default: -1, ignorable: true }),
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
export type WriteShareGroupStateRequest = Message<typeof WriteShareGroupStateRequest>;

export const WriteShareGroupStateResponse = message({
  name: 'WriteShareGroupStateResponse',
  type: 'response',
  apiKey: 85,
  versions: '0-1',
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
export type WriteShareGroupStateResponse = Message<typeof WriteShareGroupStateResponse>;
