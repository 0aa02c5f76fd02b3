// What is said in older versions is read back, by what an older broker would make of it, as what the controller meant.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeMessage,
  encodeMessage,
  LeaderAndIsrRequest,
  type LeaderAndIsrResponse,
  type Message,
  type MessageDefinition,
  StopReplicaRequest,
  type StopReplicaResponse,
  UpdateMetadataRequest,
} from '@odradek/protocol';
import { inNewestForm, inVersion } from './older-requests.ts';

const header = { controllerId: 1, isKRaftController: false, controllerEpoch: 2, brokerEpoch: 3 };
const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';

/** Over the wire in the version, so that what it cannot carry is lost. */
function sent<Q extends MessageDefinition>(definition: Q, request: Message<Q>, version: number): Message<Q>[] {
  return inVersion(definition, request, version).map((said) =>
    decodeMessage(definition, version, Buffer.concat(encodeMessage(definition, version, said))),
  );
}

const state = {
  topicName: '',
  partitionIndex: 4,
  controllerEpoch: 2,
  leader: 7,
  leaderEpoch: 8,
  isr: [7],
  partitionEpoch: 9,
  replicas: [7, 1],
  addingReplicas: [],
  removingReplicas: [],
  isNew: true,
  leaderRecoveryState: 1,
};
const leaderAndIsr: LeaderAndIsrRequest = {
  ...header,
  type: 0,
  ungroupedPartitionStates: [],
  topicStates: [{ topicName: 't', topicId, partitionStates: [state] }],
  liveLeaders: [{ brokerId: 7, hostName: 'h', port: 1 }],
};

describe('LeaderAndIsr', () => {
  for (let version = 0; version <= 7; version++) {
    it(`says in version ${version} who leads`, () => {
      const [said] = sent(LeaderAndIsrRequest, leaderAndIsr, version);
      const states =
        version < 2
          ? said?.ungroupedPartitionStates
          : said?.topicStates.flatMap(({ topicName, partitionStates }) => partitionStates.map((each) => ({ ...each, topicName })));
      assert.deepEqual(
        states?.map(({ topicName, partitionIndex, leader, leaderEpoch, isr, leaderRecoveryState }) => ({
          topicName,
          partitionIndex,
          leader,
          leaderEpoch,
          isr,
          leaderRecoveryState,
        })),
        [{ topicName: 't', partitionIndex: 4, leader: 7, leaderEpoch: 8, isr: [7], leaderRecoveryState: version >= 6 ? 1 : 0 }],
      );
    });
  }

  it('is answered by name before version 5, by id later', () => {
    const errors = [{ topicName: 't', partitionIndex: 4, errorCode: 56 }];
    const response: LeaderAndIsrResponse = { errorCode: 0, partitionErrors: errors, topics: [] };
    assert.deepEqual(inNewestForm(LeaderAndIsrRequest, leaderAndIsr, [response], 4), {
      errorCode: 0,
      partitionErrors: [],
      topics: [{ topicId, partitionErrors: errors }],
    });
    assert.equal(inNewestForm(LeaderAndIsrRequest, leaderAndIsr, [response], 5), response);
  });
});

describe('UpdateMetadata', () => {
  const { isNew: _new, leaderRecoveryState: _recovery, addingReplicas: _adding, removingReplicas: _removing, ...common } = state;
  const { partitionEpoch, ...rest } = common;
  const update: UpdateMetadataRequest = {
    ...header,
    type: 0,
    ungroupedPartitionStates: [],
    topicStates: [{ topicName: 't', topicId, partitionStates: [{ ...rest, zkVersion: partitionEpoch, offlineReplicas: [1] }] }],
    liveBrokers: [
      {
        id: 7,
        v0Host: '',
        v0Port: 0,
        endpoints: [
          { port: 2, host: 'secure', listener: 'SSL', securityProtocol: 1 },
          { port: 1, host: 'plain', listener: 'PLAINTEXT', securityProtocol: 0 },
        ],
        rack: 'r',
      },
    ],
  };
  for (let version = 0; version <= 8; version++) {
    it(`says in version ${version} what the cluster looks like`, () => {
      const [said] = sent(UpdateMetadataRequest, update, version);
      const topics =
        version < 5
          ? said?.ungroupedPartitionStates.map(({ topicName }) => topicName)
          : said?.topicStates.map(({ topicName }) => topicName);
      assert.deepEqual(topics, ['t']);
      const [broker] = said?.liveBrokers ?? [];
      if (version === 0) assert.deepEqual([broker?.v0Host, broker?.v0Port], ['plain', 1], 'an address that old clients can use');
      else
        assert.deepEqual(
          broker?.endpoints.map(({ host }) => host),
          ['secure', 'plain'],
        );
    });
  }
});

describe('StopReplica', () => {
  const stop: StopReplicaRequest = {
    ...header,
    deletePartitions: false,
    ungroupedPartitions: [],
    topics: [],
    topicStates: [
      {
        topicName: 't',
        partitionStates: [
          { partitionIndex: 0, leaderEpoch: 5, deletePartition: true },
          { partitionIndex: 1, leaderEpoch: 6, deletePartition: false },
        ],
      },
    ],
  };
  for (let version = 0; version <= 4; version++) {
    it(`says in version ${version} what to stop and what to delete`, () => {
      const all = sent(StopReplicaRequest, stop, version).flatMap((said) => [
        ...said.ungroupedPartitions.map(({ topicName, partitionIndex }) => [topicName, partitionIndex, said.deletePartitions]),
        ...said.topics.flatMap(({ name, partitionIndexes }) =>
          partitionIndexes.map((index) => [name, index, said.deletePartitions]),
        ),
        ...said.topicStates.flatMap(({ topicName, partitionStates }) =>
          partitionStates.map(({ partitionIndex, deletePartition }) => [topicName, partitionIndex, deletePartition]),
        ),
      ]);
      assert.deepEqual(all.sort(), [
        ['t', 0, true],
        ['t', 1, false],
      ]);
    });
  }

  it('has one answer for two requests', () => {
    const answers: StopReplicaResponse[] = [
      { errorCode: 0, partitionErrors: [{ topicName: 't', partitionIndex: 1, errorCode: 0 }] },
      { errorCode: 11, partitionErrors: [{ topicName: 't', partitionIndex: 0, errorCode: 56 }] },
    ];
    assert.deepEqual(inNewestForm(StopReplicaRequest, stop, answers, 2), {
      errorCode: 11,
      partitionErrors: answers.flatMap(({ partitionErrors }) => partitionErrors),
    });
  });
});
