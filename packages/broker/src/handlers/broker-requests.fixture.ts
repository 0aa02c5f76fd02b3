// The requests that most tests of handlers begin with, and batches to send.

import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  errorCodes,
  FetchRequest,
  FetchResponse,
  iterateBatches,
  type Message,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import type { RawClient } from '@odradek/testing';

/** One batch with a record for each value. Its records are of now, as far as anyone looks. */
export function batchOf(...values: readonly string[]): Buffer {
  return batchWith({}, ...values);
}

export function batchWith(options: Parameters<typeof buildRecordBatch>[0], ...values: readonly string[]): Buffer {
  return buildRecordBatch(
    options,
    values.map((value) => ({ timestamp: 1_000, key: null, value: Buffer.from(value) })),
  );
}

export async function createTopic(
  client: RawClient,
  name: string,
  options: { readonly partitions?: number; readonly configs?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const configs = Object.entries(options.configs ?? {}).map(([key, value]) => ({ name: key, value }));
  const topics = [{ name, numPartitions: options.partitions ?? 1, replicationFactor: 1, configs }];
  const answer = await client.send(CreateTopicsRequest, CreateTopicsResponse, 7, { topics, timeoutMs: 30_000 });
  const [created] = answer.topics;
  if (created?.errorCode !== errorCodes.NONE) throw new Error(`${name} was not created: ${created?.errorMessage}`);
  return created.topicId;
}

export type ProducedPartition = Message<typeof ProduceResponse>['responses'][number]['partitionResponses'][number];
export type FetchedPartition = Message<typeof FetchResponse>['responses'][number]['partitions'][number];

export async function produceOne(
  client: RawClient,
  topic: string,
  records: Buffer | null,
  options: {
    readonly partition?: number;
    readonly acks?: number;
    readonly version?: number;
    readonly topicId?: string;
    readonly transactionalId?: string;
  } = {},
): Promise<ProducedPartition> {
  const { partition: index = 0, acks = -1, version = 9, transactionalId = null } = options;
  const topicId = options.topicId === undefined ? {} : { topicId: options.topicId };
  const topicData = [{ name: topic, ...topicId, partitionData: [{ index, records }] }];
  const request = { transactionalId, acks, timeoutMs: 10_000, topicData };
  const { responses } = await client.send(ProduceRequest, ProduceResponse, version, request);
  const produced = responses[0]?.partitionResponses[0];
  if (produced === undefined) throw new Error('The answer names no partition');
  return produced;
}

export interface FetchOptions {
  readonly partition?: number;
  readonly version?: number;
  readonly maxWaitMs?: number;
  readonly minBytes?: number;
  readonly currentLeaderEpoch?: number;
  readonly lastFetchedEpoch?: number;
  readonly isolationLevel?: number;
}

/** What one fetch of one partition gave, and the values from the offset on. */
export async function fetchOne(
  client: RawClient,
  topic: string,
  fetchOffset: number,
  options: FetchOptions = {},
): Promise<FetchedPartition & { readonly values: string[] }> {
  const { partition = 0, version = 12, maxWaitMs = 0, minBytes = 1, isolationLevel = 0 } = options;
  const { currentLeaderEpoch = -1, lastFetchedEpoch = -1 } = options;
  const { responses } = await client.send(FetchRequest, FetchResponse, version, {
    maxWaitMs,
    minBytes,
    isolationLevel,
    topics: [
      { topic, partitions: [{ partition, fetchOffset, partitionMaxBytes: 1_000_000, currentLeaderEpoch, lastFetchedEpoch }] },
    ],
  });
  const fetched = responses[0]?.partitions[0];
  if (fetched === undefined) throw new Error('The answer names no partition');
  const records = [...iterateBatches(fetched.records ?? Buffer.alloc(0))].flatMap((batch) => [...batch.records()]);
  const values = records.filter(({ offset }) => offset >= fetchOffset).map(({ value }) => String(value));
  return { ...fetched, values };
}
