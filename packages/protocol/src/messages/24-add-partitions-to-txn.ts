// AddPartitionsToTxn (24): TODO
//
// Versions 1 and 2 have the same layout. Version 3 is the first flexible one. Version 4 adds transactions to the request, adds
// errorCode and resultsByTransaction to the response, drops v3AndBelowTransactionalId, v3AndBelowProducerId,
// v3AndBelowProducerEpoch and v3AndBelowTopics from the request, and drops resultsByTopicV3AndBelow from the response. Version
// 5 has the same layout.

import { array, bool, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

const addPartitionsToTxnTopic = struct({
  name: string(),
  partitions: array(int32()),
});

export const AddPartitionsToTxnRequest = message({
  name: 'AddPartitionsToTxnRequest',
  type: 'request',
  apiKey: 24,
  versions: '0-5',
  flexible: '3+',
  fields: {
    transactions: array(
      struct({
        transactionalId: string(),
        producerId: int64(),
        producerEpoch: int16(),
        verifyOnly: bool(),
        topics: array(addPartitionsToTxnTopic),
      }),
      { versions: '4+' },
    ),
    v3AndBelowTransactionalId: string({ versions: '0-3' }),
    v3AndBelowProducerId: int64({ versions: '0-3' }),
    v3AndBelowProducerEpoch: int16({ versions: '0-3' }),
    v3AndBelowTopics: array(addPartitionsToTxnTopic, { versions: '0-3' }),
  },
});
export type AddPartitionsToTxnRequest = Message<typeof AddPartitionsToTxnRequest>;

const addPartitionsToTxnPartitionResult = struct({
  partitionIndex: int32(),
  partitionErrorCode: int16(),
});

const addPartitionsToTxnTopicResult = struct({
  name: string(),
  resultsByPartition: array(addPartitionsToTxnPartitionResult),
});

export const AddPartitionsToTxnResponse = message({
  name: 'AddPartitionsToTxnResponse',
  type: 'response',
  apiKey: 24,
  versions: '0-5',
  flexible: '3+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16({ versions: '4+', ignorable: true }),
    resultsByTransaction: array(
      struct({
        transactionalId: string(),
        topicResults: array(addPartitionsToTxnTopicResult),
      }),
      { versions: '4+' },
    ),
    resultsByTopicV3AndBelow: array(addPartitionsToTxnTopicResult, { versions: '0-3' }),
  },
});
export type AddPartitionsToTxnResponse = Message<typeof AddPartitionsToTxnResponse>;
