import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AlterPartitionRequest,
  AlterPartitionResponse,
  decodeMessage,
  encodeToBuffer,
  errorCodes,
  type Message,
  type MessageInit,
  zeroUuid,
} from '@odradek/protocol';
import { SimulatedWorld } from '@odradek/testing';
import { AlterPartitionManager, alterPartition } from './alter-partition-manager.ts';
import type { InSyncProposal } from './reign.ts';

const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';

interface Asked {
  readonly version: number;
  readonly request: AlterPartitionRequest;
  readonly answer: (response: MessageInit<typeof AlterPartitionResponse>) => void;
  readonly fail: (error: Error) => void;
}

/** A controller that speaks up to a version, and answers when told to. */
function setUp(maxVersion = 3) {
  const world = new SimulatedWorld({ seed: 1 });
  const asked: Asked[] = [];
  const manager = new AlterPartitionManager({
    brokerId: 1,
    brokerEpoch: () => 40,
    timer: world.timer,
    logger: world.logger,
    ask: (request, options) => {
      const version = Math.min(maxVersion, options.maxVersion ?? maxVersion);
      const answered = Promise.withResolvers<Message<typeof AlterPartitionResponse>>();
      asked.push({
        version,
        request: decodeMessage(alterPartition.request, version, encodeToBuffer(alterPartition.request, version, request(version))),
        answer: (response) => {
          answered.resolve(
            decodeMessage(AlterPartitionResponse, version, encodeToBuffer(AlterPartitionResponse, version, response)),
          );
        },
        fail: answered.reject,
      });
      return answered.promise;
    },
  });
  return { world, asked, manager };
}

function proposal(partition: number, id = topicId): InSyncProposal {
  const isr = [
    { brokerId: 1, brokerEpoch: 40 },
    { brokerId: 2, brokerEpoch: -1 },
  ];
  return { topic: 't', topicId: id, partition, leaderEpoch: 3, partitionEpoch: 8, isr };
}

function answerOf(...partitions: readonly { readonly index: number; readonly errorCode?: number }[]) {
  const states = partitions.map(({ index, errorCode = 0 }) => ({
    partitionIndex: index,
    errorCode,
    leaderId: 1,
    leaderEpoch: 3,
    isr: [1, 2],
    partitionEpoch: 9,
  }));
  return { errorCode: 0, topics: [{ topicName: 't', topicId, partitions: states }] };
}

test('one request is under way at a time, with all that has gathered', async () => {
  const { world, asked, manager } = setUp();
  const answers = [0, 1].map((partition) => manager.propose(proposal(partition)));
  await world.advance(1);
  answers.push(manager.propose(proposal(2)));
  await world.advance(1);
  assert.deepEqual(
    asked.map(({ request }) => request.topics.map(({ partitions }) => partitions.map(({ partitionIndex }) => partitionIndex))),
    [[[0, 1]]],
  );
  const { brokerId, brokerEpoch } = asked[0]?.request ?? assert.fail();
  assert.deepEqual({ brokerId, brokerEpoch }, { brokerId: 1, brokerEpoch: 40 });
  asked[0]?.answer(answerOf({ index: 0 }, { index: 1, errorCode: errorCodes.FENCED_LEADER_EPOCH }));
  const [first, second] = await Promise.all(answers.slice(0, 2));
  assert.deepEqual([first?.errorCode, first?.isr, first?.partitionEpoch], [0, [1, 2], 9]);
  assert.equal(second?.errorCode, errorCodes.FENCED_LEADER_EPOCH);
  await world.advance(60);
  assert.equal(asked.length, 2);
  asked[1]?.answer(answerOf({ index: 2 }));
  assert.equal((await answers[2])?.errorCode, 0);
});

for (const { name, version, id, named, isr, epochs } of [
  { name: 'tells epochs from version 3 on', version: 3, id: topicId, named: { topicName: '', topicId }, isr: [], epochs: [40, -1] },
  { name: 'names topics by id in version 2', version: 2, id: topicId, named: { topicName: '', topicId }, isr: [1, 2], epochs: [] },
  {
    name: 'names topics in version 1',
    version: 1,
    id: topicId,
    named: { topicName: 't', topicId: zeroUuid },
    isr: [1, 2],
    epochs: [],
  },
  {
    name: 'names topics whose id is not known',
    version: 3,
    id: zeroUuid,
    named: { topicName: 't', topicId: zeroUuid },
    isr: [1, 2],
    epochs: [],
  },
]) {
  test(`the request ${name}`, async () => {
    const { world, asked, manager } = setUp(version);
    const answered = manager.propose(proposal(0, id));
    await world.advance(1);
    const topic = asked[0]?.request.topics[0] ?? assert.fail();
    const { topicName, topicId: told, partitions } = topic;
    assert.deepEqual({ topicName, topicId: told }, named);
    assert.deepEqual(partitions[0]?.newIsr, isr);
    assert.deepEqual(
      partitions[0]?.newIsrWithEpochs.map(({ brokerEpoch }) => brokerEpoch),
      epochs,
    );
    asked[0]?.answer(answerOf({ index: 0 }));
    assert.equal((await answered).partitionEpoch, 9);
  });
}

test('what the whole request is refused with is asked again until a controller answers', async () => {
  const { world, asked, manager } = setUp();
  const answered = manager.propose(proposal(0));
  await world.advance(1);
  let delayMs = 50;
  for (const errorCode of [errorCodes.NOT_CONTROLLER, errorCodes.STALE_BROKER_EPOCH, errorCodes.CLUSTER_AUTHORIZATION_FAILED]) {
    asked.at(-1)?.answer({ errorCode });
    const before = asked.length;
    await world.advance(delayMs - 10);
    assert.equal(asked.length, before, 'not at once');
    await world.advance(20);
    assert.equal(asked.length, before + 1);
    delayMs *= 2;
  }
  asked.at(-1)?.fail(new Error('no connection'));
  await world.advance(1_010);
  // A controller that leaves a partition out is asked again, too.
  asked.at(-1)?.answer({ errorCode: 0, topics: [] });
  await world.advance(1_010);
  assert.equal(asked.length, 6);
  asked.at(-1)?.answer(answerOf({ index: 0 }));
  assert.equal((await answered).errorCode, errorCodes.NONE);
});

test('a leader is told late what it will only repeat, and the others are not held up', async () => {
  const { world, asked, manager } = setUp();
  let told = 0;
  const unknown = manager.propose(proposal(0)).then(({ errorCode }) => {
    told = errorCode;
  });
  const other = manager.propose(proposal(1));
  await world.advance(1);
  asked[0]?.answer(answerOf({ index: 0, errorCode: errorCodes.UNKNOWN_TOPIC_ID }, { index: 1 }));
  assert.equal((await other).errorCode, errorCodes.NONE);
  manager.propose(proposal(1)).catch(() => 'closed at the end');
  await world.advance(20);
  assert.deepEqual([asked.length, told], [2, 0]);
  await world.advance(200);
  await unknown;
  assert.equal(told, errorCodes.UNKNOWN_TOPIC_ID);
  manager.close();
});

test('a second change for a partition is not attempted while the first waits', async () => {
  const { world, manager } = setUp();
  const first = manager.propose(proposal(0));
  await world.advance(1);
  assert.equal((await manager.propose(proposal(0))).errorCode, errorCodes.OPERATION_NOT_ATTEMPTED);
  manager.close();
  await assert.rejects(first);
  await assert.rejects(manager.propose(proposal(1)));
});
