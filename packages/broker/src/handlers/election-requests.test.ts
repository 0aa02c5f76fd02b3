// ElectLeaders and ListPartitionReassignments.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ElectLeadersResponse, errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { Controller, PartitionElection, PartitionReassignment } from '../controller/controller.ts';
import { MetadataSnapshot, type PartitionMetadata } from '../metadata/metadata-cache.ts';
import { callHandler, versionsOf } from '../requests/call-handler.fixture.ts';
import { electLeadersHandler } from './43-elect-leaders.ts';
import { listPartitionReassignmentsHandler } from './46-list-partition-reassignments.ts';

type ElectLeaders = Controller['electLeaders'];

const metadataCache = {
  current: new MetadataSnapshot({
    clusterId: 'c',
    controllerId: 1,
    controllerEpoch: 1,
    topics: new Map([['known', { name: 'known', id: zeroUuid, isInternal: false, partitions: [0, 1].map(partitionMetadata) }]]),
    namesById: new Map(),
    brokers: new Map(),
  }),
};

function partitionMetadata(index: number): PartitionMetadata {
  return { index, leader: 1, leaderEpoch: 0, controllerEpoch: 1, partitionEpoch: 0, replicas: [1], isr: [1], offlineReplicas: [] };
}

function electing(...elections: PartitionElection[]) {
  const asked: Parameters<ElectLeaders>[] = [];
  const electLeaders: ElectLeaders = async (...call) => {
    asked.push(call);
    return elections;
  };
  return { asked, handler: electLeadersHandler({ controller: () => ({ electLeaders }), metadataCache }) };
}

const elected = { topic: 'a', partition: 0, error: undefined };
const notNeeded = { topic: 'a', partition: 1, error: new ProtocolError(errorCodes.ELECTION_NOT_NEEDED, 'It has it.') };
const unknown = { topic: 'b', partition: 7, error: new ProtocolError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, 'None.') };

function outcomes({ replicaElectionResults }: ElectLeadersResponse): unknown {
  return replicaElectionResults.map(({ topic, partitionResult }) => [
    topic,
    ...partitionResult.map(({ partitionId, errorCode, errorMessage }) => [partitionId, errorCode, errorMessage]),
  ]);
}

test('ElectLeaders tells the outcome of each partition, in every version', async () => {
  const { asked, handler } = electing(elected, notNeeded, unknown);
  const topicPartitions = [
    { topic: 'a', partitions: [0, 1, 0] },
    { topic: 'b', partitions: [7] },
    { topic: 'a', partitions: [1] },
  ];
  const partitions = [
    { topic: 'a', partition: 0 },
    { topic: 'a', partition: 1 },
    { topic: 'b', partition: 7 },
  ];
  for (const version of versionsOf(handler)) {
    const electionType = version === 0 ? 0 : 1;
    const answer = await callHandler(handler, version, { electionType, topicPartitions });
    assert.equal(answer.errorCode, errorCodes.NONE);
    assert.deepEqual(outcomes(answer), [
      ['a', [0, errorCodes.NONE, null], [1, errorCodes.ELECTION_NOT_NEEDED, 'It has it.']],
      ['b', [7, errorCodes.UNKNOWN_TOPIC_OR_PARTITION, 'None.']],
    ]);
    assert.deepEqual(asked.pop(), [version === 0 ? 'preferred' : 'unclean', partitions]);
  }
});

test('ElectLeaders for all partitions leaves out those that had nothing to elect', async () => {
  const { asked, handler } = electing(elected, notNeeded);
  const answer = await callHandler(handler, 2, { topicPartitions: null });
  assert.deepEqual(outcomes(answer), [['a', [0, errorCodes.NONE, null]]]);
  assert.deepEqual(asked, [['preferred', null]]);
});

function failing(code: number) {
  const electLeaders = async (): Promise<never> => {
    throw new ProtocolError(code);
  };
  return electLeadersHandler({ controller: () => ({ electLeaders }), metadataCache });
}

const codesOf = ({ replicaElectionResults }: ElectLeadersResponse): unknown =>
  replicaElectionResults.map(({ topic, partitionResult }) => [
    topic,
    ...partitionResult.map(({ partitionId, errorCode }) => [partitionId, errorCode]),
  ]);

test('ElectLeaders that fails as a whole tells so for each partition, which is all that version 0 can tell', async () => {
  const code = errorCodes.KAFKA_STORAGE_ERROR;
  const handler = failing(code);
  const topicPartitions = [{ topic: 'a', partitions: [0] }];
  for (const version of versionsOf(handler)) {
    const answer = await callHandler(handler, version, { topicPartitions });
    assert.equal(answer.errorCode, version === 0 ? errorCodes.NONE : code);
    assert.deepEqual(codesOf(answer), [['a', [0, code]]]);
    assert.deepEqual(codesOf(await callHandler(handler, version, { topicPartitions: null })), []);
  }
});

test('ElectLeaders where the controller is not tells so for each partition alone, in every version', async () => {
  const { NONE, NOT_CONTROLLER } = errorCodes;
  const handler = failing(NOT_CONTROLLER);
  for (const version of versionsOf(handler)) {
    const some = await callHandler(handler, version, { topicPartitions: [{ topic: 'a', partitions: [3, 3] }] });
    assert.deepEqual([some.errorCode, codesOf(some)], [NONE, [['a', [3, NOT_CONTROLLER]]]]);
    const all = await callHandler(handler, version, { topicPartitions: null });
    assert.deepEqual([all.errorCode, codesOf(all)], [NONE, [['known', [0, NOT_CONTROLLER], [1, NOT_CONTROLLER]]]]);
  }
});

test('ElectLeaders refuses a kind of election that there is not', async () => {
  const { asked, handler } = electing();
  assert.equal((await callHandler(handler, 2, { electionType: 2, topicPartitions: null })).errorCode, errorCodes.INVALID_REQUEST);
  assert.deepEqual(asked, []);
});

function moving(...moves: PartitionReassignment[]) {
  return listPartitionReassignmentsHandler({ controller: () => ({ reassignments: async () => moves }) });
}

function move(topic: string, partition: number): PartitionReassignment {
  return { topic, partition, replicas: [3, 1, 2], addingReplicas: [3], removingReplicas: [2] };
}

const moved = { replicas: [3, 1, 2], addingReplicas: [3], removingReplicas: [2] };

test('ListPartitionReassignments tells all moves, or those asked for', async () => {
  const handler = moving(move('a', 0), move('a', 2), move('b', 0));
  const all = await callHandler(handler, 0, { topics: null });
  assert.equal(all.errorCode, errorCodes.NONE);
  assert.deepEqual(all.topics, [
    {
      name: 'a',
      partitions: [
        { partitionIndex: 0, ...moved },
        { partitionIndex: 2, ...moved },
      ],
    },
    { name: 'b', partitions: [{ partitionIndex: 0, ...moved }] },
  ]);
  const some = await callHandler(handler, 0, {
    topics: [
      { name: 'a', partitionIndexes: [1, 2] },
      { name: 'nowhere', partitionIndexes: [0] },
    ],
  });
  assert.deepEqual(some.topics, [{ name: 'a', partitions: [{ partitionIndex: 2, ...moved }] }]);
  assert.deepEqual((await callHandler(handler, 0, { topics: [] })).topics, []);
});

test('ListPartitionReassignments is answered by the active controller alone', async () => {
  const reassignments = async (): Promise<never> => {
    throw new ProtocolError(errorCodes.NOT_CONTROLLER);
  };
  const handler = listPartitionReassignmentsHandler({ controller: () => ({ reassignments }) });
  assert.equal((await callHandler(handler, 0, { topics: null })).errorCode, errorCodes.NOT_CONTROLLER);
});
