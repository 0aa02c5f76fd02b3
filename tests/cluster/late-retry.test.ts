// An idempotent producer whose leader changes repeats what the leader before has not answered, perhaps long after it has sent more to the next
// one: requests of one connection overlap here, so that much may be in the next leader's log already. It must not be written twice, and
// the producer must hear that it is there; a Java producer that is told otherwise repeats it for ever.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { partitionStateNode } from '@odradek/coordination';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  errorCodes,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { type InProcessCluster, startCluster, until } from '@odradek/testing';

const topic = 'repeated';
const producerId = 4711;
let cluster: InProcessCluster;

before(async () => {
  cluster = await startCluster({ brokers: 3 });
  const controller = await until('there is a controller', async () => {
    for (const id of cluster.brokerIds) {
      const answer = await create(id);
      if (answer === errorCodes.NONE) return { id };
    }
    return undefined;
  });
  assert.ok(controller.id >= 0);
});
after(() => cluster.close());

async function create(broker: number): Promise<number | undefined> {
  const { topics } = await (await cluster.client(broker)).send(CreateTopicsRequest, CreateTopicsResponse, 7, {
    topics: [{ name: topic, numPartitions: -1, replicationFactor: -1, assignments: [{ partitionIndex: 0, brokerIds: [0, 1, 2] }] }],
    timeoutMs: 10_000,
  });
  return topics[0]?.errorCode;
}

async function leadership(): Promise<ReturnType<typeof partitionStateNode.decode>> {
  return partitionStateNode.decode(topic, (await cluster.coordination.get(partitionStateNode.path(topic, 0))).data);
}

/** Batches are of one record each. */
async function produce(leader: number, sequence: number): Promise<{ readonly errorCode: number; readonly baseOffset: number }> {
  const records = buildRecordBatch({ producerId, producerEpoch: 0, baseSequence: sequence }, [
    { timestamp: 1_000, value: Buffer.from(String(sequence)) },
  ]);
  const { responses } = await (await cluster.client(leader)).send(ProduceRequest, ProduceResponse, 9, {
    acks: -1,
    timeoutMs: 10_000,
    topicData: [{ name: topic, partitionData: [{ index: 0, records }] }],
  });
  const { errorCode = -2, baseOffset = -2 } = responses[0]?.partitionResponses[0] ?? {};
  return { errorCode, baseOffset };
}

test('a batch that comes again late is known by the next leader, and not by the one that has appended it', async () => {
  await until('all replicas are in sync', async () => (await leadership()).isr.length === 3);
  const { leader: first } = await leadership();
  for (let sequence = 0; sequence < 3; sequence++) {
    assert.deepEqual(await produce(first, sequence), { errorCode: errorCodes.NONE, baseOffset: sequence });
  }
  await cluster.expireSession(first);
  const { leader: next } = await until('another leads', async () => {
    const now = await leadership();
    return now.leader !== first && now.leader >= 0 ? now : undefined;
  });
  await until('it takes what follows', async () => (await produce(next, 3)).errorCode === errorCodes.NONE);
  for (let sequence = 4; sequence < 12; sequence++) {
    assert.deepEqual(await produce(next, sequence), { errorCode: errorCodes.NONE, baseOffset: sequence });
  }

  assert.deepEqual(await produce(next, 1), { errorCode: errorCodes.DUPLICATE_SEQUENCE_NUMBER, baseOffset: -1 });
  assert.equal((await produce(next, 4)).errorCode, errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER, 'as in Kafka');
  assert.deepEqual(await produce(next, 12), { errorCode: errorCodes.NONE, baseOffset: 12 }, 'nothing was written twice');
});
