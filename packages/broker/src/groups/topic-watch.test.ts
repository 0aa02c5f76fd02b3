import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { zeroUuid } from '@odradek/protocol';
import { MetadataCache } from '../metadata/metadata-cache.ts';
import { watchTopics } from './topic-watch.ts';

const [firstId, secondId] = ['firstAAAAAAAAAAAAAAAAA', 'secondAAAAAAAAAAAAAAAA'];

describe('the coordinator hears', () => {
  let cache: MetadataCache;
  let heard: string[];

  beforeEach(() => {
    cache = new MetadataCache('cluster');
    heard = [];
    watchTopics(cache, {
      topicsCreated: () => heard.push('new'),
      topicsDeleted: (topics) =>
        heard.push(`gone ${[...topics].map(([name, id]) => `${name}/${id.replace(/A+$/, '')}`).join(' ')}`),
    });
  });

  /** There is such a topic; or, with no leader ever again, it is being deleted. */
  function tell(topicName: string, topicId: string, { partitions = 1, isThere = true, leader = 0 } = {}): void {
    const partition = { controllerEpoch: 1, leaderEpoch: 0, isr: [0], zkVersion: 0, replicas: [0], offlineReplicas: [] };
    const partitionStates = Array.from({ length: partitions }, (_, partitionIndex) => ({
      ...partition,
      partitionIndex,
      leader: isThere ? leader : -2,
    }));
    cache.update({
      controllerId: 0,
      controllerEpoch: 1,
      topicStates: [{ topicName, topicId, partitionStates }],
      ungroupedPartitionStates: [],
      liveBrokers: [{ id: 0, rack: null, endpoints: [] }],
    });
  }

  test('of a topic that has come, and of the one that has gone', () => {
    tell('t', firstId);
    tell('t', firstId, { isThere: false });
    assert.deepEqual(heard, ['new', 'gone t/first']);
  });

  test('nothing when a topic grows or has another leader', () => {
    tell('t', firstId);
    tell('t', firstId, { partitions: 3 });
    tell('t', firstId, { partitions: 3, leader: -1 });
    assert.deepEqual(heard, ['new']);
  });

  test('of both when another one of the same name is in its place', () => {
    tell('t', firstId);
    tell('t', secondId);
    assert.deepEqual(heard, ['new', 'new', 'gone t/first']);
  });

  test('nothing when a topic gets an id, or is told of by one who does not know it', () => {
    tell('t', zeroUuid);
    tell('t', firstId);
    tell('t', zeroUuid);
    assert.deepEqual(heard, ['new']);
  });
});
