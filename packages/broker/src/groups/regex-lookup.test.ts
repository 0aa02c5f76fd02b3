import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetadataCache, type MetadataSnapshot } from '../metadata/metadata-cache.ts';
import { RegexLookup } from './regex-lookup.ts';

function clusterWith(...names: readonly string[]): MetadataSnapshot {
  const cache = new MetadataCache('cluster');
  const partition = { partitionIndex: 0, controllerEpoch: 1, leader: 0, leaderEpoch: 0, isr: [0], zkVersion: 0 };
  cache.update({
    controllerId: 0,
    controllerEpoch: 1,
    topicStates: names.map((topicName, index) => ({
      topicName,
      topicId: String(index).padEnd(22, 'A'),
      partitionStates: [{ ...partition, replicas: [0], offlineReplicas: [] }],
    })),
    ungroupedPartitionStates: [],
    liveBrokers: [{ id: 0, rack: null, endpoints: [] }],
  });
  return cache.current;
}

function found(lookup: RegexLookup): Record<string, string[]> {
  return Object.fromEntries([...lookup.found].map(([regex, topics]) => [regex, [...topics].sort()]));
}

test('finds the topics that each expression matches as a whole', () => {
  const lookup = new RegexLookup(['ta.', 'u|tap', 'none', ''], clusterWith('tag', 'tap', 'stage', 'u', '__consumer_offsets'));
  assert.equal(
    lookup.proceed(() => true),
    true,
  );
  assert.deepEqual(found(lookup), { 'ta.': ['tag', 'tap'], 'u|tap': ['tap', 'u'], none: [], '': [] });
});

test('takes one topic and one expression at a time when others are waiting, and comes to the same', () => {
  const names = Array.from({ length: 30 }, (_, index) => `topic-${index}`);
  const metadata = clusterWith(...names);
  const lookup = new RegexLookup(['topic-.', '.*5'], metadata);
  let turns = 1;
  while (!lookup.proceed(() => false)) turns += 1;
  assert.equal(turns, 2 * names.length + 1);
  const atOnce = new RegexLookup(['topic-.', '.*5'], metadata);
  atOnce.proceed(() => true);
  assert.deepEqual(found(lookup), found(atOnce));
});

test('an expression that cannot be read matches nothing and does not keep others from matching', () => {
  const lookup = new RegexLookup(['(', 't'], clusterWith('t', '('));
  assert.equal(
    lookup.proceed(() => true),
    true,
  );
  assert.deepEqual(found(lookup), { '(': [], t: ['t'] });
});

test('without expressions there is nothing to do', () => {
  assert.equal(
    new RegexLookup([], clusterWith('t')).proceed(() => false),
    true,
  );
});
