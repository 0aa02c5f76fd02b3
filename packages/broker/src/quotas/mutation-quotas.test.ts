import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { errorByCode } from '@odradek/protocol';
import { type OneBroker, startOneBroker } from '../admin/one-broker.fixture.ts';
import { BrokerConfig } from '../broker-config.ts';
import { metadataHandler } from '../handlers/03-metadata.ts';
import { createTopicsHandler } from '../handlers/19-create-topics.ts';
import { deleteTopicsHandler } from '../handlers/20-delete-topics.ts';
import { createPartitionsHandler } from '../handlers/37-create-partitions.ts';
import { callHandler } from '../requests/call-handler.fixture.ts';
import { MutationQuotas } from './mutation-quotas.ts';
import { QuotaLimits } from './quota-limits.ts';

const config = new BrokerConfig(new Map([['log.dirs', '/data']]));

describe('controller_mutation_rate', () => {
  let broker: OneBroker;
  let time: { nowMs: number };
  let quotas: { limits: QuotaLimits };
  let mutationQuotas: MutationQuotas;

  /** 2 partitions a second, and 10 at once. */
  beforeEach(async () => {
    broker = await startOneBroker();
    time = { nowMs: 1000 };
    quotas = { limits: new QuotaLimits([{ entity: { clientId: null }, values: new Map([['controller_mutation_rate', 2]]) }]) };
    const clock = { monotonicMs: () => time.nowMs, wallTimeMs: () => 0 };
    mutationQuotas = new MutationQuotas({ clock, quotas, windowCount: 5, windowMs: 1000 });
  });
  afterEach(() => broker.close());

  const parts = () => ({ topicChanges: broker.topicChanges, config, mutationQuotas });

  async function create(version: number, topics: Readonly<Record<string, number>>, validateOnly = false) {
    const asked = Object.entries(topics).map(([name, numPartitions]) => ({ name, numPartitions, replicationFactor: 1 }));
    const answer = await callHandler(createTopicsHandler(parts()), version, { topics: asked, timeoutMs: 10_000, validateOnly });
    return [answer.throttleTimeMs, ...answer.topics.map(({ errorCode }) => errorByCode(errorCode).name)];
  }

  async function remove(version: number, ...names: string[]) {
    const asked = version >= 6 ? { topics: names.map((name) => ({ name })) } : { topicNames: names };
    const answer = await callHandler(deleteTopicsHandler(parts()), version, { ...asked, timeoutMs: 10_000 });
    return [answer.throttleTimeMs, ...answer.responses.map(({ errorCode }) => errorByCode(errorCode).name)];
  }

  async function grow(version: number, topics: Readonly<Record<string, number>>) {
    const asked = Object.entries(topics).map(([name, count]) => ({ name, count, assignments: null }));
    const answer = await callHandler(createPartitionsHandler(parts()), version, { topics: asked, timeoutMs: 10_000 });
    return [answer.throttleTimeMs, ...answer.results.map(({ errorCode }) => errorByCode(errorCode).name)];
  }

  it('refuses topics while partitions are owed, each topic for itself, and says for how long', async () => {
    assert.deepEqual(await create(7, { a: 6, b: 8, c: 1 }), [2000, 'NONE', 'NONE', 'THROTTLING_QUOTA_EXCEEDED']);
    assert.deepEqual(await create(6, { c: 1 }), [2000, 'THROTTLING_QUOTA_EXCEEDED']);
    assert.deepEqual(await create(7, { c: 1 }, true), [0, 'NONE'], 'to look costs nothing');
    time.nowMs += 2000;
    assert.deepEqual(await create(7, { c: 1, a: 1 }), [0, 'NONE', 'TOPIC_ALREADY_EXISTS']);
    assert.deepEqual(await create(7, { d: 1 }), [500, 'THROTTLING_QUOTA_EXCEEDED']);
  });

  it('only makes clients of old versions wait', async () => {
    assert.deepEqual(await create(5, { a: 12, b: 2 }), [2000, 'NONE', 'NONE']);
    assert.deepEqual(await grow(2, { b: 4 }), [3000, 'NONE']);
    assert.deepEqual(await remove(4, 'b'), [5000, 'NONE']);
  });

  it('counts the partitions that are added', async () => {
    assert.deepEqual(await create(7, { a: 2, b: 2 }), [0, 'NONE', 'NONE']);
    assert.deepEqual(await grow(3, { a: 10, b: 3 }), [1000, 'NONE', 'THROTTLING_QUOTA_EXCEEDED']);
    time.nowMs += 1000;
    assert.deepEqual(await grow(3, { b: 3 }), [0, 'NONE']);
  });

  it('counts the partitions that are deleted', async () => {
    assert.deepEqual(await create(7, { a: 7, b: 2 }), [0, 'NONE', 'NONE']);
    assert.deepEqual(await remove(6, 'a', 'b', 'nope'), [3000, 'NONE', 'THROTTLING_QUOTA_EXCEEDED', 'UNKNOWN_TOPIC_OR_PARTITION']);
    assert.deepEqual(await remove(5, 'b'), [3000, 'THROTTLING_QUOTA_EXCEEDED']);
  });

  it('counts what is created on demand, and refuses none of it', async () => {
    const { metadataCache, topicChanges } = broker;
    const handler = metadataHandler({ metadataCache, topicChanges, mutationQuotas, autoCreatesTopics: () => true });
    await callHandler(handler, 12, { topics: ['a', 'b', 'c', 'd'].map((name) => ({ name })) });
    assert.deepEqual(await create(7, { e: 1 }), [1000, 'THROTTLING_QUOTA_EXCEEDED'], 'three partitions each');
  });

  it('is nothing to clients without one', async () => {
    quotas.limits = new QuotaLimits([]);
    assert.deepEqual(await create(7, { a: 100, b: 100 }), [0, 'NONE', 'NONE']);
  });
});
