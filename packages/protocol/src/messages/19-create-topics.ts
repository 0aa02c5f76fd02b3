// CreateTopics (19): Creates topics.
//
//   1  can only validate, and explains errors; adds validateOnly to the request, errorMessage to the response
//   2  adds throttleTimeMs to the response
//   3  is as 2: the client waits itself when it is throttled
//   4  can leave partitions and replication factor to the broker's defaults
//   5  tells what was created; is flexible; adds topicConfigErrorCode, numPartitions, replicationFactor and configs to the
//      response
//   6  may answer THROTTLING_QUOTA_EXCEEDED
//   7  tells topic ids; adds topicId to the response

import { array, bool, int8, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const CreateTopicsRequest = message({
  name: 'CreateTopicsRequest',
  type: 'request',
  apiKey: 19,
  versions: '0-7',
  flexible: '5+',
  fields: {
    topics: array(
      struct({
        /** Of the new topic. */
        name: string(),
        /** -1: as many as num.partitions says, or as assignments lists. */
        numPartitions: int32(),
        /** -1: as default.replication.factor says, or as assignments lists. */
        replicationFactor: int16(),
        /** Which brokers get which partition, by hand; empty: the controller decides. */
        assignments: array(
          struct({
            partitionIndex: int32(),
            /** The preferred leader first. */
            brokerIds: array(int32()),
          }),
        ),
        /** Where the topic differs from the broker's defaults. */
        configs: array(
          struct({
            name: string(),
            value: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
    /** How long to wait until the topics are there; 0 or less: not at all. */
    timeoutMs: int32({ default: 60000 }),
    /** Whether to check everything and create nothing. */
    validateOnly: bool({ versions: '1+' }),
  },
});
export type CreateTopicsRequest = Message<typeof CreateTopicsRequest>;

export const CreateTopicsResponse = message({
  name: 'CreateTopicsResponse',
  type: 'response',
  apiKey: 19,
  versions: '0-7',
  flexible: '5+',
  fields: {
    throttleTimeMs: int32({ versions: '2+', ignorable: true }),
    topics: array(
      struct({
        name: string(),
        /** Zero with an error. */
        topicId: uuid({ versions: '7+', ignorable: true }),
        errorCode: int16(),
        /** Null: see the code. */
        errorMessage: string({ versions: '1+', nullable: '0+', ignorable: true }),
        /** Why configs are missing, when the client may not see them. */
        topicConfigErrorCode: int16({ versions: '5+', tag: 0, ignorable: true }),
        /** -1: unknown. */
        numPartitions: int32({ versions: '5+', default: -1, ignorable: true }),
        /** -1: unknown. */
        replicationFactor: int16({ versions: '5+', default: -1, ignorable: true }),
        /** All of the topic's, with where each comes from. */
        configs: array(
          struct({
            name: string(),
            /** Null: sensitive, or none. */
            value: string({ nullable: '0+' }),
            readOnly: bool(),
            /** As in DescribeConfigs. */
            configSource: int8({ default: -1, ignorable: true }),
            isSensitive: bool(),
          }),
          { versions: '5+', nullable: '0+', ignorable: true },
        ),
      }),
    ),
  },
});
export type CreateTopicsResponse = Message<typeof CreateTopicsResponse>;
