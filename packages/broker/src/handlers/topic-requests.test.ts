// CreateTopics, DeleteTopics and CreatePartitions: what the handlers themselves decide, and how outcomes look in every version.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import { configSources } from '../admin/config-entries.ts';
import type { CreatedTopic, DeletedTopic, GrownTopic, TopicToCreate, TopicToDelete, TopicToGrow } from '../admin/topic-changes.ts';
import { BrokerConfig } from '../broker-config.ts';
import { callHandler, versionsOf } from '../requests/call-handler.fixture.ts';
import { createTopicsHandler } from './19-create-topics.ts';
import { deleteTopicsHandler } from './20-delete-topics.ts';
import { createPartitionsHandler } from './37-create-partitions.ts';

const topicId = 'AQEBAQEBAQEBAQEBAQEBAQ';
const config = new BrokerConfig(new Map());

/** Topics whose name begins with `bad` fail. */
function outcomeOf(name: string | null): ProtocolError | undefined {
  return name?.startsWith('bad') ? new ProtocolError(errorCodes.TOPIC_ALREADY_EXISTS, 'it is there') : undefined;
}

class FakeTopicChanges {
  readonly asked: string[] = [];

  createTopics(topics: readonly TopicToCreate[]): Promise<CreatedTopic[]> {
    this.asked.push(...topics.map(({ name }) => name));
    return Promise.resolve(
      topics.map(({ name, configs }) => ({
        name,
        error: outcomeOf(name),
        topicId,
        numPartitions: 3,
        replicationFactor: 1,
        configs: new Map(configs.map((each) => [each.name, each.value ?? ''])),
      })),
    );
  }

  deleteTopics(topics: readonly TopicToDelete[]): Promise<DeletedTopic[]> {
    this.asked.push(...topics.map(({ name, topicId: id }) => name ?? id));
    return Promise.resolve(
      topics.map((topic) => ({ name: topic.name ?? 'by-id', topicId: topic.topicId, error: outcomeOf(topic.name) })),
    );
  }

  createPartitions(topics: readonly TopicToGrow[]): Promise<GrownTopic[]> {
    this.asked.push(...topics.map(({ name }) => name));
    return Promise.resolve(topics.map(({ name }) => ({ name, error: outcomeOf(name) })));
  }
}

function topicNamed(name: string, configs: readonly { name: string; value: string | null }[] = []) {
  return { name, numPartitions: 3, replicationFactor: 1, assignments: [], configs };
}

test('CreateTopics answers each topic, in every version', async (t) => {
  const handler = createTopicsHandler({ topicChanges: new FakeTopicChanges(), config });
  for (const version of versionsOf(handler)) {
    await t.test(`version ${version}`, async () => {
      const { topics } = await callHandler(handler, version, {
        topics: [topicNamed('good', [{ name: 'retention.ms', value: '1000' }]), topicNamed('bad')],
      });
      const [good, bad] = topics;
      assert.equal(good?.errorCode, errorCodes.NONE);
      assert.equal(bad?.errorCode, errorCodes.TOPIC_ALREADY_EXISTS);
      if (version >= 1) assert.equal(bad?.errorMessage, 'it is there');
      assert.equal(good?.topicId, version >= 7 ? topicId : zeroUuid);
      assert.equal(good?.numPartitions, version >= 5 ? 3 : -1);
      assert.equal(bad?.numPartitions, -1);
      assert.deepEqual(bad?.configs, []);
      // C26: every configuration with its source, the topic's own among them.
      assert.equal(good?.configs?.length, version >= 5 ? 37 : 0);
      if (version < 5) return;
      const sources = new Map(good?.configs?.map(({ name, configSource }) => [name, configSource]));
      assert.equal(sources.get('retention.ms'), configSources.DYNAMIC_TOPIC_CONFIG);
      assert.equal(sources.get('segment.ms'), configSources.DEFAULT_CONFIG);
    });
  }
});

test('CreateTopics refuses a topic that the request names twice, and creates the others', async () => {
  const topicChanges = new FakeTopicChanges();
  const handler = createTopicsHandler({ topicChanges, config });
  const { topics } = await callHandler(handler, 7, { topics: [topicNamed('a'), topicNamed('b'), topicNamed('a')] });
  assert.deepEqual(
    topics.map(({ name, errorCode }) => [name, errorCode]),
    [
      ['a', errorCodes.INVALID_REQUEST],
      ['b', errorCodes.NONE],
      ['a', errorCodes.INVALID_REQUEST],
    ],
  );
  assert.deepEqual(topicChanges.asked, ['b']);
});

test('CreateTopics does not take the name under which Kafka without ZooKeeper keeps its state', async () => {
  const topicChanges = new FakeTopicChanges();
  const { topics } = await callHandler(createTopicsHandler({ topicChanges, config }), 7, {
    topics: [topicNamed('__cluster_metadata')],
  });
  assert.equal(topics[0]?.errorCode, errorCodes.INVALID_REQUEST);
  assert.deepEqual(topicChanges.asked, []);
});

test('DeleteTopics answers each topic, in every version', async (t) => {
  const handler = deleteTopicsHandler({ topicChanges: new FakeTopicChanges() });
  for (const version of versionsOf(handler)) {
    await t.test(`version ${version}`, async () => {
      const request = version >= 6 ? { topics: [{ name: 'good' }, { name: 'bad' }] } : { topicNames: ['good', 'bad'] };
      const { responses } = await callHandler(handler, version, request);
      assert.deepEqual(
        responses.map(({ name, errorCode }) => [name, errorCode]),
        [
          ['good', errorCodes.NONE],
          ['bad', errorCodes.TOPIC_ALREADY_EXISTS],
        ],
      );
    });
  }
});

test('DeleteTopics takes a topic by name or by id, once', async () => {
  const topicChanges = new FakeTopicChanges();
  const handler = deleteTopicsHandler({ topicChanges });
  const { responses } = await callHandler(handler, 6, {
    topics: [{ topicId }, { name: 'a', topicId }, {}, { name: 'b' }, { name: 'b' }, { name: 'c' }],
  });
  assert.deepEqual(
    responses.map(({ name, errorCode }) => [name, errorCode]),
    [
      ['by-id', errorCodes.NONE],
      ['a', errorCodes.INVALID_REQUEST],
      [null, errorCodes.INVALID_REQUEST],
      ['b', errorCodes.INVALID_REQUEST],
      ['b', errorCodes.INVALID_REQUEST],
      ['c', errorCodes.NONE],
    ],
  );
  assert.deepEqual(topicChanges.asked, [topicId, 'c']);
});

test('DeleteTopics of a broker that deletes nothing answers as its version expects', async () => {
  const deleteTopics = () => Promise.reject(new ProtocolError(errorCodes.TOPIC_DELETION_DISABLED));
  const handler = deleteTopicsHandler({ topicChanges: { deleteTopics } });
  for (const version of versionsOf(handler)) {
    const request = version >= 6 ? { topics: [{ name: 'a' }] } : { topicNames: ['a'] };
    const { responses } = await callHandler(handler, version, request);
    assert.equal(responses[0]?.errorCode, version < 3 ? errorCodes.INVALID_REQUEST : errorCodes.TOPIC_DELETION_DISABLED);
  }
});

test('CreatePartitions answers each topic once, in every version', async (t) => {
  const handler = createPartitionsHandler({ topicChanges: new FakeTopicChanges() });
  for (const version of versionsOf(handler)) {
    await t.test(`version ${version}`, async () => {
      const topics = ['good', 'bad', 'twice', 'twice'].map((name) => ({ name, count: 5, assignments: null }));
      const { results } = await callHandler(handler, version, { topics });
      assert.deepEqual(
        results.map(({ name, errorCode }) => [name, errorCode]),
        [
          ['good', errorCodes.NONE],
          ['bad', errorCodes.TOPIC_ALREADY_EXISTS],
          ['twice', errorCodes.INVALID_REQUEST],
        ],
      );
    });
  }
});

test('a request that fails as a whole fails for each of its topics', async () => {
  const failing = () => Promise.reject(new ProtocolError(errorCodes.NOT_CONTROLLER));
  const topicChanges = { createTopics: failing, deleteTopics: failing, createPartitions: failing };
  const created = await callHandler(createTopicsHandler({ topicChanges, config }), 7, { topics: [topicNamed('a')] });
  assert.equal(created.topics[0]?.errorCode, errorCodes.NOT_CONTROLLER);
  const deleted = await callHandler(deleteTopicsHandler({ topicChanges }), 6, { topics: [{ topicId }] });
  assert.deepEqual([deleted.responses[0]?.topicId, deleted.responses[0]?.errorCode], [topicId, errorCodes.NOT_CONTROLLER]);
  const grown = await callHandler(createPartitionsHandler({ topicChanges }), 3, {
    topics: ['a', 'b', 'a'].map((name) => ({ name, count: 2, assignments: null })),
  });
  assert.deepEqual(
    grown.results.map(({ name, errorCode }) => [name, errorCode]),
    [
      ['a', errorCodes.NOT_CONTROLLER],
      ['b', errorCodes.NOT_CONTROLLER],
    ],
  );
});
