// The few requests that most cases begin with, sent plainly; what a case is about it words itself.

import assert from 'node:assert/strict';
import {
  ApiVersionsRequest,
  ApiVersionsResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  errorByCode,
  FetchRequest,
  FetchResponse,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  iterateBatches,
  ListOffsetsRequest,
  ListOffsetsResponse,
  type LogRecord,
  type Message,
  type MessageDefinition,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { type BrokerUnderTest, RawClient, uniqueName, until } from '@odradek/testing';

export type ProducedPartition = Message<typeof ProduceResponse>['responses'][number]['partitionResponses'][number];
export type FetchedPartition = Message<typeof FetchResponse>['responses'][number]['partitions'][number];
export type ListedPartition = Message<typeof ListOffsetsResponse>['topics'][number]['partitions'][number];
export type CreatedTopic = Message<typeof CreateTopicsResponse>['topics'][number];
export type DescribedTopic = Message<typeof MetadataResponse>['topics'][number];

export interface TopicOptions {
  readonly partitions?: number;
  readonly configs?: Readonly<Record<string, string>>;
}

export class BrokerConversation {
  readonly client: RawClient;
  readonly broker: BrokerUnderTest;

  constructor(broker: BrokerUnderTest, client: RawClient) {
    this.broker = broker;
    this.client = client;
  }

  static async open(broker: BrokerUnderTest): Promise<BrokerConversation> {
    return new BrokerConversation(broker, await RawClient.connect({ host: broker.host, port: broker.port }));
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The versions that the broker offers for an API; undefined when it does not offer it. */
  async offered(request: MessageDefinition): Promise<{ min: number; max: number } | undefined> {
    const { apiKeys } = await this.client.send(ApiVersionsRequest, ApiVersionsResponse, 0, {});
    const found = apiKeys.find((api) => api.apiKey === request.apiKey);
    return found === undefined ? undefined : { min: found.minVersion, max: found.maxVersion };
  }

  async offers(request: MessageDefinition, version: number): Promise<boolean> {
    const range = await this.offered(request);
    return range !== undefined && range.min <= version && version <= range.max;
  }

  /** A topic of a new name, once it has its leaders. */
  async createTopic(stem: string, options: TopicOptions = {}): Promise<string> {
    const name = uniqueName(stem);
    await this.createTopicNamed(name, options);
    return name;
  }

  async createTopicNamed(name: string, options: TopicOptions = {}): Promise<DescribedTopic> {
    const configs = Object.entries(options.configs ?? {}).map(([key, value]) => ({ name: key, value }));
    const topics = [{ name, numPartitions: options.partitions ?? 1, replicationFactor: 1, configs }];
    const { topics: created } = await this.client.send(CreateTopicsRequest, CreateTopicsResponse, 5, { topics, timeoutMs: 30_000 });
    assertError(created[0]?.errorCode, 'NONE', created[0]?.errorMessage);
    return this.ledTopic(name);
  }

  /** The topic's metadata, as soon as all its partitions have leaders that answer. */
  ledTopic(name: string): Promise<DescribedTopic> {
    return until(`${name} has leaders`, async () => {
      const topic = await this.metadata(name);
      if (topic.errorCode !== 0 || topic.partitions.some((partition) => partition.errorCode !== 0)) {
        return false;
      }
      const partitions = topic.partitions.map(({ partitionIndex }) => ({ partitionIndex, timestamp: -1 }));
      const { topics } = await this.client.send(ListOffsetsRequest, ListOffsetsResponse, 6, {
        replicaId: -1,
        topics: [{ name, partitions }],
      });
      return topics[0]?.partitions.every((partition) => partition.errorCode === 0) === true && topic;
    });
  }

  /** The topic as Metadata tells it, not created when absent. */
  async metadata(name: string): Promise<DescribedTopic> {
    const request = { topics: [{ name }], allowAutoTopicCreation: false };
    const { topics } = await this.client.send(MetadataRequest, MetadataResponse, 12, request);
    assert.ok(topics[0] !== undefined);
    return topics[0];
  }

  /** Sets configs of the topic, and leaves its others. */
  async alterTopic(name: string, topicConfigs: Readonly<Record<string, string>>): Promise<void> {
    const configs = Object.entries(topicConfigs).map(([key, value]) => ({ name: key, configOperation: 0, value }));
    const resources = [{ resourceType: 2, resourceName: name, configs }];
    const request = { resources, validateOnly: false };
    const answer = await this.client.send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, request);
    assertError(answer.responses[0]?.errorCode, 'NONE', answer.responses[0]?.errorMessage);
  }

  /** Produces to one partition by name; the answer of that partition. */
  async produce(
    topic: string,
    records: Uint8Array | null,
    options: { readonly version?: number; readonly acks?: number; readonly partition?: number } = {},
  ): Promise<ProducedPartition> {
    const { version = 9, acks = -1, partition = 0 } = options;
    const topicData = [{ name: topic, partitionData: [{ index: partition, records }] }];
    const request = { acks, timeoutMs: 30_000, topicData };
    const { responses } = await this.client.send(ProduceRequest, ProduceResponse, version, request);
    const answer = responses[0]?.partitionResponses[0];
    assert.ok(answer !== undefined);
    return answer;
  }

  /** Produces and expects that it worked; the base offset. */
  async append(
    topic: string,
    records: Uint8Array,
    options: { readonly partition?: number; readonly version?: number } = {},
  ): Promise<number> {
    const answer = await this.produce(topic, records, options);
    assertError(answer.errorCode, 'NONE', answer.errorMessage);
    return answer.baseOffset;
  }

  async fetch(
    topic: string,
    fetchOffset: number,
    options: {
      readonly version?: number;
      readonly partition?: number;
      readonly maxWaitMs?: number;
      readonly minBytes?: number;
      readonly maxBytes?: number;
      readonly partitionMaxBytes?: number;
      readonly isolationLevel?: number;
    } = {},
  ): Promise<FetchedPartition> {
    const { version = 12, partition = 0, maxWaitMs = 0, minBytes = 0, maxBytes = 0x7fffffff, isolationLevel = 0 } = options;
    const partitions = [{ partition, fetchOffset, partitionMaxBytes: options.partitionMaxBytes ?? 0x7fffffff }];
    const request = { maxWaitMs, minBytes, maxBytes, isolationLevel, topics: [{ topic, partitions }] };
    const { responses } = await this.client.send(FetchRequest, FetchResponse, version, request);
    const answer = responses[0]?.partitions[0];
    assert.ok(answer !== undefined);
    return answer;
  }

  async listOffset(
    topic: string,
    timestamp: number,
    options: { readonly version?: number; readonly partition?: number; readonly isolationLevel?: number } = {},
  ): Promise<ListedPartition> {
    const { version = 7, partition = 0, isolationLevel = 0 } = options;
    const topicsAsked = [{ name: topic, partitions: [{ partitionIndex: partition, timestamp }] }];
    const request = { replicaId: -1, isolationLevel, topics: topicsAsked };
    const { topics } = await this.client.send(ListOffsetsRequest, ListOffsetsResponse, version, request);
    const answer = topics[0]?.partitions[0];
    assert.ok(answer !== undefined);
    return answer;
  }

  async endOffset(topic: string, partition = 0): Promise<number> {
    return (await this.listOffset(topic, -1, { partition })).offset;
  }
}

/** Compares an error code by name, which is what one wants to read when it is wrong. */
export function assertError(code: number | undefined, name: string, message?: string | null): void {
  assert.equal(code === undefined ? 'no answer' : errorByCode(code).name, name, message ?? undefined);
}

/** All records of fetched bytes, in all formats. */
export function recordsOf(bytes: Buffer | null): LogRecord[] {
  return bytes === null ? [] : [...iterateBatches(bytes)].flatMap((batch) => [...batch.records()]);
}

export function valuesOf(bytes: Buffer | null): (string | null)[] {
  return recordsOf(bytes).map((record) => record.value?.toString() ?? null);
}

/** Records with these values, as a batch builder takes them; made now, since old ones could be removed by retention. */
export function textRecords(...values: readonly string[]): { value: Buffer; timestamp: number }[] {
  return values.map((value) => ({ value: Buffer.from(value), timestamp: Date.now() }));
}
