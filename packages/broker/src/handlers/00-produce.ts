// Produce (0): appends record batches to partitions.
//
// acks=0 gets no answer, 1 one when this broker has written, -1 when all in-sync replicas have. Versions 0 to 2 carry the old
// message formats, which the log converts; from 3 on each partition gets exactly one batch of magic 2. 7 allows zstd, 8 tells which
// records were refused, 10 tells the current leader, 13 names topics by id.

import {
  batchSizeAt,
  errorCodes,
  type MessageInit,
  magicPosition,
  ProduceRequest,
  ProduceResponse,
  ProtocolError,
  RecordBatch,
  zeroUuid,
} from '@odradek/protocol';
import type { Logger } from '@odradek/runtime';
import type { AppendInfo } from '@odradek/storage';
import { isInternalTopic, type MetadataCache } from '../metadata/metadata-cache.ts';
import { type AwaitedAppend, replicated } from '../purgatory/delayed-produce.ts';
import type { Partition } from '../replication/partition.ts';
import type { ReplicaManager } from '../replication/replica-manager.ts';
import { CloseConnectionError } from '../requests/close-connection-error.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { RequestContext } from '../requests/request-context.ts';
import { hasTransactionalRecords } from '../requests/transactional-records.ts';
import { LeaderHints } from './leader-hints.ts';
import { appended, fail, type PartitionAnswer, refusal, type TopicAnswer } from './produce-answer.ts';

/** The tools of Kafka that may write to internal topics call themselves so. */
const adminClientId = '__admin_client';

export interface ProduceParts {
  readonly replicaManager: ReplicaManager;
  readonly metadataCache: MetadataCache;
  readonly logger: Logger;
  /** transaction.partition.verification.enable */
  readonly verifiesTransactions: () => boolean;
}

type TopicData = ProduceRequest['topicData'][number];

/** One partition of the request, from its append to its answer. */
interface Append extends AwaitedAppend {
  readonly topic: string;
  readonly partition: Partition;
  readonly info: AppendInfo;
  readonly answer: PartitionAnswer;
}

export function produceHandler(parts: ProduceParts): Handler<typeof ProduceRequest, typeof ProduceResponse> {
  return defineHandler(ProduceRequest, ProduceResponse, {
    mayOverlap: true,
    handle: (request, context) => produce(parts, request, context),
    errorResponse(request, error, { clientId }) {
      if (request.acks === 0) throw failedWithoutAcks(clientId, error.codeName);
      return {
        responses: request.topicData.map(({ name, topicId, partitionData }) => ({
          name,
          topicId,
          partitionResponses: partitionData.map(({ index }) => refusal(index, error)),
        })),
      };
    },
  });
}

function produce(
  parts: ProduceParts,
  request: ProduceRequest,
  context: RequestContext,
): MessageInit<typeof ProduceResponse> | null | Promise<MessageInit<typeof ProduceResponse> | null> {
  const { acks } = request;
  if (request.transactionalId === null && hasTransactionalRecords(request)) {
    throw new ProtocolError(errorCodes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 'The records are of a transaction without an id');
  }
  if (acks !== 1 && acks !== -1 && acks !== 0) throw new ProtocolError(errorCodes.INVALID_REQUIRED_ACKS);
  const appends: Append[] = [];
  const responses = lastOfEach(request.topicData).map((topic) => appendToTopic(parts, request, context, topic, appends));
  if (appends.length === 0) return answerOf(parts, responses, acks, context);
  return awaitWrites(parts, request, context, responses, appends);
}

/** Of a partition that is named more than once only the last batch counts, in the place of the first, as in Kafka. */
function lastOfEach(topicData: readonly TopicData[]): readonly TopicData[] {
  if (!isAnyNamedTwice(topicData)) return topicData;
  const topics = new Map<string, TopicData & { readonly byIndex: Map<number, TopicData['partitionData'][number]> }>();
  for (const topic of topicData) {
    const key = `${topic.topicId} ${topic.name}`;
    const { byIndex } = topics.get(key) ?? { byIndex: new Map<number, TopicData['partitionData'][number]>() };
    topics.set(key, { ...topic, byIndex });
    for (const partition of topic.partitionData) byIndex.set(partition.index, partition);
  }
  return [...topics.values()].map(({ byIndex, ...topic }) => ({ ...topic, partitionData: [...byIndex.values()] }));
}

function isAnyNamedTwice(topicData: readonly TopicData[]): boolean {
  const isTopicNamedTwice =
    topicData.length > 1 && new Set(topicData.map(({ topicId, name }) => `${topicId} ${name}`)).size < topicData.length;
  return (
    isTopicNamedTwice ||
    topicData.some(
      ({ partitionData }) =>
        partitionData.length > 1 && new Set(partitionData.map(({ index }) => index)).size < partitionData.length,
    )
  );
}

function appendToTopic(
  parts: ProduceParts,
  request: ProduceRequest,
  context: RequestContext,
  { name, topicId, partitionData }: TopicData,
  appends: Append[],
): TopicAnswer {
  const topic = context.apiVersion >= 13 ? parts.metadataCache.current.topicName(topicId) : name;
  const partitionResponses: PartitionAnswer[] = [];
  for (const { index, records } of partitionData) {
    let answer: PartitionAnswer;
    let partition: Partition | undefined;
    try {
      if (topic === undefined) throw new ProtocolError(errorCodes.UNKNOWN_TOPIC_ID);
      partition = check(parts, context, topic, topicId, index, records);
      const info = partition.append(records ?? noRecords, { origin: 'client', requiredAcks: request.acks });
      answer = appended(index, info);
      appends.push({
        topic,
        partition,
        info,
        answer,
        requiredOffset: info.lastOffset + 1,
        leadingSinceEpoch: partition.leadingSinceEpoch,
        errorCode: undefined,
      });
    } catch (error) {
      answer = refusal(index, expected(parts, error, topic, index), partition);
    }
    partitionResponses.push(answer);
  }
  return { name: topic ?? name, topicId, partitionResponses };
}

const noRecords = Buffer.alloc(0);

/** What is checked before the log sees the records. Answers the partition. */
function check(
  parts: ProduceParts,
  context: RequestContext,
  topic: string,
  topicId: string,
  index: number,
  records: Buffer | null,
): Partition {
  if (isInternalTopic(topic) && context.clientId !== adminClientId) {
    throw new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION, `Clients may not write to the internal topic ${topic}`);
  }
  const { apiVersion } = context;
  if (apiVersion >= 3) checkSingleBatch(records ?? noRecords, apiVersion);
  const partition = parts.replicaManager.partition(topic, index);
  if (apiVersion >= 13 && partition.topicId !== zeroUuid && partition.topicId !== topicId)
    throw new ProtocolError(errorCodes.UNKNOWN_TOPIC_ID);
  if (apiVersion >= 3 && parts.verifiesTransactions()) checkTransaction(partition, records ?? noRecords);
  return partition;
}

/** From version 3 on: exactly one batch, of magic 2. A short tail behind it is not looked at, as in Kafka. */
function checkSingleBatch(records: Buffer, apiVersion: number): void {
  const size = batchSizeAt(records, 0);
  if (size === 0) {
    throw new ProtocolError(errorCodes.INVALID_RECORD, `Produce version ${apiVersion} needs a record batch for each partition`);
  }
  if (records[magicPosition] !== 2) {
    throw new ProtocolError(errorCodes.INVALID_RECORD, `Produce version ${apiVersion} allows only record batches of magic 2`);
  }
  if (size < records.length && batchSizeAt(records, size) > 0) {
    throw new ProtocolError(errorCodes.INVALID_RECORD, `Produce version ${apiVersion} allows one record batch for each partition`);
  }
  if (apiVersion < 7 && new RecordBatch(records, 0).compression === 'zstd') {
    throw new ProtocolError(errorCodes.UNSUPPORTED_COMPRESSION_TYPE, `Produce version ${apiVersion} does not know zstd`);
  }
}

/** A transaction must have been announced to the coordinator, which tells the log by letting the first batch in. */
function checkTransaction(partition: Partition, records: Buffer): void {
  const batch = new RecordBatch(records, 0);
  if (!batch.isTransactional) return;
  if (partition.log.hasOngoingTransaction(batch.producerId, batch.producerEpoch)) return;
  throw new ProtocolError(errorCodes.INVALID_TXN_STATE, 'The records belong to no ongoing transaction');
}

async function awaitWrites(
  parts: ProduceParts,
  request: ProduceRequest,
  context: RequestContext,
  responses: TopicAnswer[],
  appends: readonly Append[],
): Promise<MessageInit<typeof ProduceResponse> | null> {
  const failed = await writesOf(appends);
  // What is written nobody refers to any more.
  if (context.frame !== undefined) context.frame.mayRecycle = true;
  for (let i = 0; i < appends.length; i++) {
    const append = appends[i] as Append;
    const error = failed?.[i];
    if (error === undefined) append.partition.recordWritten();
    else fail(append.answer, expected(parts, error, append.topic, append.partition.index));
  }
  if (request.acks === -1) {
    const waiting = appends.filter((append) => append.answer.errorCode === errorCodes.NONE);
    if (!waiting.every(isReplicated)) {
      await replicated(parts.replicaManager, waiting, request.timeoutMs);
    }
    for (const append of waiting) {
      append.answer.errorCode = append.errorCode ?? errorCodes.NONE;
    }
  }
  for (const { answer, info } of appends) {
    // Clients take that for a success that tells no offsets.
    if (info.isDuplicate && info.firstOffset < 0 && answer.errorCode === errorCodes.NONE) {
      answer.errorCode = errorCodes.DUPLICATE_SEQUENCE_NUMBER;
      answer.logAppendTimeMs = -1;
    }
  }
  return answerOf(parts, responses, request.acks, context);
}

function isReplicated({ partition, requiredOffset, leadingSinceEpoch }: Append): boolean {
  return (
    partition.leadingSinceEpoch === leadingSinceEpoch &&
    partition.isLeader &&
    partition.hasLog &&
    partition.log.highWatermark >= requiredOffset
  );
}

/** Waits until all appends are written. undefined: none failed; else the error of each that did, by index. */
async function writesOf(appends: readonly Append[]): Promise<unknown[] | undefined> {
  if (appends.length === 1) {
    try {
      await appends[0]?.info.written;
      return undefined;
    } catch (error) {
      return [error];
    }
  }
  const settled = await Promise.allSettled(appends.map(({ info }) => info.written));
  if (settled.every(({ status }) => status === 'fulfilled')) return undefined;
  return settled.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined));
}

function answerOf(
  parts: ProduceParts,
  responses: TopicAnswer[],
  acks: number,
  context: RequestContext,
): MessageInit<typeof ProduceResponse> | null {
  if (acks === 0) {
    closeOnError(responses, context);
    return null;
  }
  if (context.apiVersion < 10) return { responses, throttleTimeMs: 0 };
  let hints: LeaderHints | undefined;
  for (const { name, partitionResponses } of responses) {
    for (const answer of partitionResponses) {
      if (answer.errorCode !== errorCodes.NOT_LEADER_OR_FOLLOWER) continue;
      hints ??= new LeaderHints(parts, context.listenerName);
      answer.currentLeader = hints.currentLeader(name, answer.index);
    }
  }
  return { responses, throttleTimeMs: 0, nodeEndpoints: hints?.nodeEndpoints };
}

/** The client of acks=0 learns of a failure by losing its connection, and then asks for metadata. */
function closeOnError(responses: readonly TopicAnswer[], context: RequestContext): void {
  for (const { name, partitionResponses } of responses) {
    for (const { index, errorCode } of partitionResponses) {
      if (errorCode === errorCodes.NONE) continue;
      const { codeName } = new ProtocolError(errorCode);
      throw failedWithoutAcks(context.clientId, `${codeName} on ${name}-${index}`);
    }
  }
}

function failedWithoutAcks(clientId: string | null, failure: string): CloseConnectionError {
  return new CloseConnectionError(`a produce request with acks=0 of client ${JSON.stringify(clientId)} failed with ${failure}`);
}

function expected(parts: ProduceParts, error: unknown, topic: string | undefined, index: number): ProtocolError {
  if (error instanceof ProtocolError) return error;
  parts.logger.error('An append failed unexpectedly', { topic, partition: index, error });
  return new ProtocolError(errorCodes.UNKNOWN_SERVER_ERROR);
}
