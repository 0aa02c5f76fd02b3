// AddPartitionsToTxn (24): Adds partitions to an open transaction. Up to version 3 a producer asks, later a broker does on
// behalf of several producers, too.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  may answer PRODUCER_FENCED
//   3  is flexible
//   4  asks for several transactions at once, and can only verify; adds transactions to the request, errorCode and
//      resultsByTransaction to the response; drops v3AndBelowTransactionalId, v3AndBelowProducerId, v3AndBelowProducerEpoch and
//      v3AndBelowTopics from the request, resultsByTopicV3AndBelow from the response
//   5  the client understands TRANSACTION_ABORTABLE

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
    /** From version 4 on, where brokers ask for several. */
    transactions: array(
      struct({
        transactionalId: string(),
        producerId: int64(),
        producerEpoch: int16(),
        /** Whether to check that the partitions are part of the transaction, and add nothing. */
        verifyOnly: bool(),
        topics: array(addPartitionsToTxnTopic),
      }),
      { versions: '4+' },
    ),
    /** Up to version 3, where a producer asks for itself. */
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
