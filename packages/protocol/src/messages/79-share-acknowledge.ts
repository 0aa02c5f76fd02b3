// ShareAcknowledge (79): Acknowledges records for a member of a share group.
//
//   1  is as 0, which was an early access
//   2  can renew acquisition locks; adds isRenewAck to the request, acquisitionLockTimeoutMs to the response

import { array, bool, int8, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const ShareAcknowledgeRequest = message({
  name: 'ShareAcknowledgeRequest',
  type: 'request',
  apiKey: 79,
  versions: '0-2',
  flexible: '0+',
  fields: {
    groupId: string({ nullable: '0+', default: null }),
    memberId: string({ nullable: '0+' }),
    shareSessionEpoch: int32(),
    isRenewAck: bool({ versions: '2+' }),
    topics: array(
      struct({
        topicId: uuid(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            acknowledgementBatches: array(
              struct({
                firstOffset: int64(),
                lastOffset: int64(),
                acknowledgeTypes: array(int8()),
              }),
            ),
          }),
        ),
      }),
    ),
  },
});
export type ShareAcknowledgeRequest = Message<typeof ShareAcknowledgeRequest>;

export const ShareAcknowledgeResponse = message({
  name: 'ShareAcknowledgeResponse',
  type: 'response',
  apiKey: 79,
  versions: '0-2',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    acquisitionLockTimeoutMs: int32({ versions: '2+', ignorable: true }),
    responses: array(
      struct({
        topicId: uuid(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
            errorMessage: string({ nullable: '0+', default: null }),
            currentLeader: struct({
              leaderId: int32(),
              leaderEpoch: int32(),
            }),
          }),
        ),
      }),
    ),
    nodeEndpoints: array(
      struct({
        nodeId: int32(),
        host: string(),
        port: int32(),
        rack: string({ nullable: '0+', default: null }),
      }),
    ),
  },
});
export type ShareAcknowledgeResponse = Message<typeof ShareAcknowledgeResponse>;
