// DescribeTopicPartitions (75): Topics with their partitions, page by page.

import { array, bool, int16, int32, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const DescribeTopicPartitionsRequest = message({
  name: 'DescribeTopicPartitionsRequest',
  type: 'request',
  apiKey: 75,
  versions: '0',
  flexible: '0+',
  fields: {
    /** Empty: all. */
    topics: array(
      struct({
        name: string(),
      }),
    ),
    /** At most so many partitions in one answer. */
    responsePartitionLimit: int32({ default: 2000 }),
    /** Where to go on; null: from the start. */
    cursor: struct(
      {
        topicName: string(),
        partitionIndex: int32(),
      },
      { nullable: '0+', default: null },
    ),
  },
});
export type DescribeTopicPartitionsRequest = Message<typeof DescribeTopicPartitionsRequest>;

export const DescribeTopicPartitionsResponse = message({
  name: 'DescribeTopicPartitionsResponse',
  type: 'response',
  apiKey: 75,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32({ ignorable: true }),
    topics: array(
      struct({
        errorCode: int16(),
        name: string({ nullable: '0+' }),
        topicId: uuid({ ignorable: true }),
        isInternal: bool({ ignorable: true }),
        partitions: array(
          struct({
            errorCode: int16(),
            partitionIndex: int32(),
            leaderId: int32(),
            leaderEpoch: int32({ default: -1, ignorable: true }),
            replicaNodes: array(int32()),
            isrNodes: array(int32()),
            /** Not in sync, but have everything committed; null: unknown. */
            eligibleLeaderReplicas: array(int32(), { nullable: '0+', default: null }),
            /** Those that were in sync last; null: unknown. */
            lastKnownElr: array(int32(), { nullable: '0+', default: null }),
            offlineReplicas: array(int32(), { ignorable: true }),
          }),
        ),
        topicAuthorizedOperations: int32({ default: -2147483648 }),
      }),
    ),
    /** Null: this was the last page. */
    nextCursor: struct(
      {
        topicName: string(),
        partitionIndex: int32(),
      },
      { nullable: '0+', default: null },
    ),
  },
});
export type DescribeTopicPartitionsResponse = Message<typeof DescribeTopicPartitionsResponse>;
