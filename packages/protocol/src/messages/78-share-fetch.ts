// ShareFetch (78): Fetches records for a member of a share group, and acknowledges earlier ones.
//
//   1  can limit by records, too; adds maxRecords and batchSize to the request, acquisitionLockTimeoutMs to the response; drops
//      partitionMaxBytes from the request
//   2  can renew acquisition locks, and can ask for whole batches or no more than fits; adds shareAcquireMode and isRenewAck to
//      the request

import { array, bool, int8, int16, int32, int64, type Message, message, records, string, struct, uuid } from '../schema/define.ts';

export const ShareFetchRequest = message({
  name: 'ShareFetchRequest',
  type: 'request',
  apiKey: 78,
  versions: '0-2',
  flexible: '0+',
  fields: {
    groupId: string({ nullable: '0+', default: null }),
    memberId: string({ nullable: '0+' }),
    shareSessionEpoch: int32(),
    maxWaitMs: int32(),
    minBytes: int32(),
    maxBytes: int32({ default: 2147483647 }),
    maxRecords: int32({ versions: '1+' }),
    batchSize: int32({ versions: '1+' }),
    shareAcquireMode: int8({ versions: '2+', ignorable: true }),
    isRenewAck: bool({ versions: '2+' }),
    topics: array(
      struct({
        topicId: uuid(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            partitionMaxBytes: int32({ versions: '0' }),
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
    forgottenTopicsData: array(
      struct({
        topicId: uuid(),
        partitions: array(int32()),
      }),
    ),
  },
});
export type ShareFetchRequest = Message<typeof ShareFetchRequest>;

export const ShareFetchResponse = message({
  name: 'ShareFetchResponse',
  type: 'response',
  apiKey: 78,
  versions: '0-2',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    acquisitionLockTimeoutMs: int32({ versions: '1+' }),
    responses: array(
      struct({
        topicId: uuid(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
            errorMessage: string({ nullable: '0+', default: null }),
            acknowledgeErrorCode: int16(),
            acknowledgeErrorMessage: string({ nullable: '0+', default: null }),
            currentLeader: struct({
              leaderId: int32(),
              leaderEpoch: int32(),
            }),
            records: records({ nullable: '0' }),
            acquiredRecords: array(
              struct({
                firstOffset: int64(),
                lastOffset: int64(),
                deliveryCount: int16(),
              }),
            ),
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
export type ShareFetchResponse = Message<typeof ShareFetchResponse>;
