// Quotas from the outside: set by one client, felt by others, over real connections to a broker whose time stands still. So every limit is
// one for all windows together, and nothing that was done is ever forgotten.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  AlterClientQuotasRequest,
  AlterClientQuotasResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  errorByCode,
  errorCodes,
  FetchRequest,
  FetchResponse,
  ListOffsetsRequest,
  ListOffsetsResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { InProcessBroker, RawClient } from '@odradek/testing';
import { batchOf, createTopic, produceOne } from '../handlers/broker-requests.fixture.ts';

/** Stands still, but for requests that are to take time. */
const time = { nowMs: 1_000_000, stepMs: 0 };
const clock = {
  wallTimeMs: () => Date.now(),
  monotonicMs: () => {
    time.nowMs += time.stepMs;
    return time.nowMs;
  },
};

let broker: InProcessBroker;
let admin: RawClient;

/** A value of null takes the quota away. */
async function setQuota(entityType: string, entityName: string, key: string, value: number | null): Promise<void> {
  const ops = [{ key, value: value ?? 0, remove: value === null }];
  const { entries } = await admin.send(AlterClientQuotasRequest, AlterClientQuotasResponse, 1, {
    entries: [{ entity: [{ entityType, entityName }], ops }],
  });
  assert.deepEqual([entries[0]?.errorCode, entries[0]?.errorMessage], [0, null]);
}

/** A client on a connection of its own: one that has to wait is not heard on its old one. */
const clientOf = (clientId: string): Promise<RawClient> => broker.client({ clientId });

before(async () => {
  broker = await InProcessBroker.start({ clock });
  admin = await clientOf('admin');
  await createTopic(admin, 'quotas');
});
after(() => broker.close());

describe('producer_byte_rate', () => {
  const value = 'x'.repeat(6000);
  async function waitAfterProducing(clientId: string): Promise<number> {
    const answer = await (await clientOf(clientId)).send(ProduceRequest, ProduceResponse, 9, {
      acks: -1,
      timeoutMs: 10_000,
      topicData: [{ name: 'quotas', partitionData: [{ index: 0, records: batchOf(value) }] }],
    });
    assert.equal(answer.responses[0]?.partitionResponses[0]?.errorCode, 0, 'the records are taken in any case');
    return answer.throttleTimeMs;
  }

  test('tells its client how long to wait, and nobody else', async () => {
    await setQuota('client-id', 'producer', 'producer_byte_rate', 1000);
    assert.equal(await waitAfterProducing('producer'), 0);
    const waitMs = await waitAfterProducing('producer');
    assert.ok(waitMs > 2000 && waitMs < 3000, `for 12,000 bytes and some, where 10,000 are allowed: ${waitMs}`);
    assert.equal(await waitAfterProducing('other'), 0);
    const gauges = [...broker.metrics.series()].flatMap((one) => (one.kind === 'gauge' && 'client_id' in one.labels ? [one] : []));
    assert.deepEqual(
      gauges.map(({ name, labels }) => [name, labels]),
      ['produce_byte_rate', 'produce_throttle_time'].map((name) => [name, { user: '', client_id: 'producer' }]),
    );
    assert.equal(gauges[1]?.value, waitMs);
    await setQuota('client-id', 'producer', 'producer_byte_rate', null);
    assert.equal(await waitAfterProducing('producer'), 0);
  });

  test('of a user is for all of its clients', async () => {
    await setQuota('user', 'ANONYMOUS', 'producer_byte_rate', 1000);
    assert.equal(await waitAfterProducing('one'), 0);
    assert.ok((await waitAfterProducing('two')) > 2000);
    await setQuota('user', 'ANONYMOUS', 'producer_byte_rate', null);
  });
});

describe('consumer_byte_rate', () => {
  const partitionOf = (fetchOffset: number) => ({
    partition: 0,
    fetchOffset,
    partitionMaxBytes: 1_000_000,
    currentLeaderEpoch: -1,
  });

  async function fetch(session: { sessionId: number; sessionEpoch: number }, fetchOffset?: number, version = 12) {
    const topics = fetchOffset === undefined ? [] : [{ topic: 'read', partitions: [partitionOf(fetchOffset)] }];
    const answer = await (await clientOf('consumer')).send(FetchRequest, FetchResponse, version, {
      maxWaitMs: 0,
      minBytes: 1,
      ...(version >= 3 ? { maxBytes: 1_000_000 } : {}),
      ...(version >= 7 ? session : {}),
      topics,
    });
    assert.equal(answer.errorCode, 0);
    const bytes = answer.responses
      .flatMap(({ partitions }) => partitions)
      .reduce((sum, { records }) => sum + (records?.length ?? 0), 0);
    return { waitMs: answer.throttleTimeMs, partitions: answer.responses.length, bytes, sessionId: answer.sessionId };
  }

  test('gives nothing that is too much, and leaves sessions where they are', async () => {
    await createTopic(admin, 'read');
    for (let batch = 0; batch < 4; batch++) await produceOne(admin, 'read', batchOf('x'.repeat(6000)));
    await setQuota('client-id', 'consumer', 'consumer_byte_rate', 1000);
    const full = { sessionId: 0, sessionEpoch: 0 };
    const first = await fetch(full, 0);
    assert.ok(first.bytes > 6000 && first.bytes <= 10_000, `what may be had at once: ${first.bytes}`);
    const { sessionId } = first;
    assert.notEqual(sessionId, 0);
    const held = await fetch({ sessionId, sessionEpoch: 1 }, 1);
    assert.deepEqual({ ...held, waitMs: 0 }, { waitMs: 0, partitions: 0, bytes: 0, sessionId });
    assert.ok(held.waitMs > 2000, String(held.waitMs));
    const refused = await fetch(full, 0);
    assert.deepEqual({ ...refused, waitMs: 0 }, { waitMs: 0, partitions: 0, bytes: 0, sessionId: 0 }, 'no session is begun');
    assert.ok(refused.waitMs > 2000);
    assert.deepEqual(await fetch(full, 0, 2).then(({ partitions, waitMs }) => [partitions, waitMs > 2000]), [0, true]);
    await setQuota('client-id', 'consumer', 'consumer_byte_rate', null);
    const last = await fetch({ sessionId, sessionEpoch: 2 });
    assert.equal(last.waitMs, 0);
    assert.ok(last.bytes > 18_000, 'the offset of the fetch that was held back is remembered');
  });

  test('is felt by a fetch that has waited for data', async () => {
    await createTopic(admin, 'later');
    await setQuota('client-id', 'waiting', 'consumer_byte_rate', 100);
    const fetchOnce = async () => {
      const topics = [{ topic: 'later', partitions: [partitionOf(0)] }];
      const wants = { maxWaitMs: 30_000, minBytes: 1, maxBytes: 100_000, topics };
      return (await clientOf('waiting')).send(FetchRequest, FetchResponse, 11, wants);
    };
    const waiting = fetchOnce();
    await produceOne(admin, 'later', batchOf('x'.repeat(800)));
    const { throttleTimeMs, responses } = await waiting;
    assert.equal(throttleTimeMs, 0);
    assert.ok((responses[0]?.partitions[0]?.records?.length ?? 0) > 800);
    const again = await fetchOnce();
    assert.ok(again.throttleTimeMs > 0);
    assert.deepEqual(again.responses, []);
    await setQuota('client-id', 'waiting', 'consumer_byte_rate', null);
  });
});

test('request_percentage makes a client wait for the time that its requests took', async () => {
  await setQuota('client-id', 'busy', 'request_percentage', 1);
  const ask = async (clientId: string): Promise<number> => {
    const request = { replicaId: -1, topics: [{ name: 'quotas', partitions: [{ partitionIndex: 0, timestamp: -1 }] }] };
    return (await (await clientOf(clientId)).send(ListOffsetsRequest, ListOffsetsResponse, 7, request)).throttleTimeMs;
  };
  assert.equal(await ask('busy'), 0);
  time.stepMs = 150;
  try {
    assert.ok((await ask('busy')) > 0);
    assert.equal(await ask('idle'), 0);
  } finally {
    time.stepMs = 0;
  }
  await setQuota('client-id', 'busy', 'request_percentage', null);
  assert.equal(await ask('busy'), 0);
});

test('controller_mutation_rate refuses topics, and the client is told when to come back', async () => {
  await setQuota('client-id', 'creator', 'controller_mutation_rate', 0.1);
  const create = async (name: string) => {
    const topics = [{ name, numPartitions: 2, replicationFactor: 1 }];
    const answer = await (await clientOf('creator')).send(CreateTopicsRequest, CreateTopicsResponse, 7, {
      topics,
      timeoutMs: 10_000,
    });
    return [errorByCode(answer.topics[0]?.errorCode ?? -1).name, answer.throttleTimeMs];
  };
  assert.deepEqual(await create('first'), ['NONE', 0]);
  assert.deepEqual(await create('second'), ['THROTTLING_QUOTA_EXCEEDED', 9000]);
  const topics = [{ name: 'first' }];
  const deleted = await (await clientOf('creator')).send(DeleteTopicsRequest, DeleteTopicsResponse, 6, {
    topics,
    timeoutMs: 10_000,
  });
  assert.deepEqual([deleted.responses[0]?.errorCode, deleted.throttleTimeMs], [errorCodes.THROTTLING_QUOTA_EXCEEDED, 9000]);
  await setQuota('client-id', 'creator', 'controller_mutation_rate', null);
  assert.deepEqual(await create('second'), ['NONE', 0]);
});

test('connection_creation_rate sends those away that are too many', async () => {
  await setQuota('ip', '127.0.0.1', 'connection_creation_rate', 1);
  const clients = await Promise.all(Array.from({ length: 10 }, () => clientOf('many')));
  const late = await RawClient.connect({ port: broker.port });
  await late.closed;
  assert.ok(clients.every(({ isClosed }) => !isClosed));
  await setQuota('ip', '127.0.0.1', 'connection_creation_rate', null);
  await createTopic(await clientOf('many'), 'welcome-again');
});
