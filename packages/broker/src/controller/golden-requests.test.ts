// What the controller tells brokers when topics are created and grow is, field by field, what Apache Kafka 3.9 told them. Ids,
// ports and broker epochs are masked; the order of partitions and brokers means nothing.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { goldenDirectory } from '@odradek/testing';
import { createGoldenTopics, growGoldenTopic, startGoldenCluster } from '../admin/golden-cluster.fixture.ts';

interface GoldenRequest {
  readonly before: string;
  readonly toBroker: number;
  readonly api: string;
  readonly request: unknown;
}

const directory = goldenDirectory();
const apiNames: Readonly<Record<string, string>> = {
  LeaderAndIsrRequest: 'LEADER_AND_ISR',
  UpdateMetadataRequest: 'UPDATE_METADATA',
  StopReplicaRequest: 'STOP_REPLICA',
};

/** As the newest version has it: what only old versions know is left out, like the tagged field that has its default. */
const notInNewest = new Set(['ungroupedPartitionStates', 'v0Host', 'v0Port', 'deletePartitions', 'ungroupedPartitions', 'topics']);

function normal(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const elements = value.map((element) => normal(element));
    const hasOrder = ['isr', 'replicas'].includes(key);
    return hasOrder ? elements : elements.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return ['port', 'brokerEpoch', 'topicId'].includes(key) ? '…' : value;
  const isPartition = 'partitionIndex' in value;
  const isMetadata = 'liveBrokers' in value;
  const entries = Object.entries(value)
    .filter(([name]) => !notInNewest.has(name) && !(isPartition && name === 'topicName') && !(isMetadata && name === 'type'))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, normal(inner, name)]));
}

function line(brokerId: number, api: string, body: unknown): string {
  return `${api} to ${brokerId}: ${JSON.stringify(normal(body))}`;
}

function golden(moment: string): string[] {
  const text = gunzipSync(readFileSync(join(directory ?? '', 'zookeeper/requests.jsonl.gz'))).toString('utf8');
  return text
    .trim()
    .split('\n')
    .map((json) => JSON.parse(json) as GoldenRequest)
    .filter(({ before, api }) => before === moment && Object.values(apiNames).includes(api))
    .map(({ toBroker, api, request }) => line(toBroker, api, request));
}

describe('the requests of the controller', () => {
  it('are those of Kafka', { skip: directory === undefined && 'no golden facts' }, async () => {
    const { topicChanges, requests, close } = await startGoldenCluster();
    const sent = (): string[] => requests.splice(0).map(({ brokerId, name, body }) => line(brokerId, apiNames[name] ?? name, body));
    sent();
    await createGoldenTopics(topicChanges);
    assert.deepEqual(sent().sort(), golden('after-topic-create').sort());
    await growGoldenTopic(topicChanges);
    assert.deepEqual(sent().sort(), golden('after-add-partitions').sort());
    await close();
  });
});
