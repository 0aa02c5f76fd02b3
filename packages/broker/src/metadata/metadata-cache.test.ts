import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetadataCache, type MetadataUpdate } from './metadata-cache.ts';

const idOf = (topic: string) => `id-of-${topic}`.padEnd(22, 'A');
const noId = 'A'.repeat(22);

type Partition = MetadataUpdate['topicStates'][number]['partitionStates'][number];

function partition(partitionIndex: number, leader: number, changes: Partial<Partition> = {}): Partition {
  return {
    partitionIndex,
    leader,
    leaderEpoch: 0,
    controllerEpoch: 1,
    isr: [1, 2],
    zkVersion: 0,
    replicas: [1, 2],
    offlineReplicas: [],
    ...changes,
  };
}

function update(topics: Record<string, readonly Partition[]>, changes: Partial<MetadataUpdate> = {}): MetadataUpdate {
  return {
    controllerId: 1,
    controllerEpoch: 1,
    topicStates: Object.entries(topics).map(([topicName, partitionStates]) => ({
      topicName,
      topicId: idOf(topicName),
      partitionStates,
    })),
    ungroupedPartitionStates: [],
    liveBrokers: [
      { id: 2, rack: 'r', endpoints: [{ listener: 'INTERNAL', host: 'b2', port: 9093, securityProtocol: 1 }] },
      { id: 1, rack: null, endpoints: [{ listener: 'PLAINTEXT', host: 'b1', port: 9092, securityProtocol: 0 }] },
    ],
    ...changes,
  };
}

describe('the metadata cache', () => {
  it('is empty until the controller has told it something', () => {
    const { current } = new MetadataCache('cluster');
    assert.deepEqual([current.clusterId, current.controllerId, current.topicCount, [...current.brokers()]], ['cluster', -1, 0, []]);
  });

  it('finds topics by name and by id, partitions by index, brokers by id and listener', () => {
    const cache = new MetadataCache('cluster');
    cache.update(
      update({
        t: [partition(1, 2), partition(0, 1, { offlineReplicas: [2], zkVersion: 4 })],
        __consumer_offsets: [partition(0, 1)],
      }),
    );
    const { current } = cache;
    assert.equal(current.topicById(idOf('t')), current.topic('t'));
    assert.equal(current.topicName(idOf('t')), 't');
    assert.deepEqual(
      current.topic('t')?.partitions.map(({ index, leader }) => [index, leader]),
      [
        [0, 1],
        [1, 2],
      ],
    );
    assert.deepEqual(current.partition('t', 0)?.offlineReplicas, [2]);
    assert.equal(current.partition('t', 0)?.partitionEpoch, 4);
    assert.equal(current.partition('t', 2), undefined);
    assert.equal(current.topic('t')?.isInternal, false);
    assert.equal(current.topic('__consumer_offsets')?.isInternal, true);
    assert.deepEqual(
      [...current.brokers()].map(({ id }) => id),
      [1, 2],
    );
    assert.deepEqual(current.endpoint(2, 'INTERNAL'), { listener: 'INTERNAL', securityProtocol: 'SSL', host: 'b2', port: 9093 });
    assert.equal(current.endpoint(1, 'INTERNAL'), undefined);
  });

  it('leaves earlier snapshots as they were, and shares the topics that did not change', () => {
    const cache = new MetadataCache('cluster');
    cache.update(update({ a: [partition(0, 1)], b: [partition(0, 1)] }));
    const before = cache.current;
    cache.update(update({ a: [partition(0, 2, { leaderEpoch: 1 })] }, { controllerId: 2, controllerEpoch: 2 }));
    assert.equal(before.partition('a', 0)?.leader, 1);
    assert.equal(cache.current.partition('a', 0)?.leader, 2);
    assert.equal(cache.current.topic('b'), before.topic('b'));
    assert.equal(cache.current.controllerId, 2);
  });

  it('forgets partitions that are being deleted, and with the last one the topic', () => {
    const cache = new MetadataCache('cluster');
    cache.update(update({ t: [partition(0, 1), partition(1, 1)] }));
    cache.update(update({ t: [partition(0, -2)] }));
    assert.equal(cache.current.partition('t', 0), undefined);
    assert.equal(cache.current.partition('t', 1)?.index, 1);
    cache.update(update({ t: [partition(1, -2)] }));
    assert.equal(cache.current.topic('t'), undefined);
    assert.equal(cache.current.topicById(idOf('t')), undefined);
  });

  it('takes another id under the same name for another topic', () => {
    const cache = new MetadataCache('cluster');
    cache.update(update({ t: [partition(0, 1), partition(1, 1)] }));
    const topicStates = [{ topicName: 't', topicId: idOf('new'), partitionStates: [partition(0, 2)] }];
    cache.update(update({}, { topicStates }));
    assert.equal(cache.current.topic('t')?.partitions.length, 1);
    assert.equal(cache.current.topicById(idOf('t')), undefined);
    assert.equal(cache.current.topicById(idOf('new'))?.name, 't');
  });

  it('reads the old form of the request, which knows no ids and no listeners', () => {
    const cache = new MetadataCache('cluster');
    cache.update(
      update(
        {},
        {
          ungroupedPartitionStates: [
            { topicName: 't', ...partition(0, 1) },
            { topicName: 't', ...partition(1, 1) },
          ],
          liveBrokers: [{ id: 1, rack: null, endpoints: [{ listener: '', host: 'b1', port: 9093, securityProtocol: 3 }] }],
        },
      ),
    );
    assert.equal(cache.current.topic('t')?.partitions.length, 2);
    assert.equal(cache.current.topic('t')?.id, noId);
    assert.equal(cache.current.topicById(noId), undefined);
    assert.equal(cache.current.endpoint(1, 'SASL_SSL')?.port, 9093);
  });

  it('does not listen to an earlier controller', () => {
    const cache = new MetadataCache('cluster');
    cache.update(update({}, { controllerEpoch: 5 }));
    assert.equal(cache.update(update({ t: [partition(0, 1)] }, { controllerEpoch: 4 })), false);
    assert.equal(cache.current.topicCount, 0);
  });

  it('tells its listeners what was and what is', () => {
    const cache = new MetadataCache('cluster');
    const told: string[] = [];
    const stop = cache.onUpdate((current, previous, touched) =>
      told.push(`${previous.topicCount} → ${current.topicCount}: ${[...touched]}`),
    );
    cache.update(update({ t: [partition(0, 1)] }));
    stop();
    cache.update(update({ u: [partition(0, 1)] }));
    assert.deepEqual(told, ['0 → 1: t']);
  });
});
