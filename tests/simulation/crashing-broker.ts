// A broker whose process is killed and whose machine loses power again and again, while idempotent producers write with acks=all and
// `flush.messages=1` over a network that cuts their connections. In the end every record is there once, in the order of its producer.

import assert from 'node:assert/strict';
import { type Broker, startBroker } from '@odradek/broker';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  errorByCode,
  errorCodes,
  FetchRequest,
  FetchResponse,
  InitProducerIdRequest,
  InitProducerIdResponse,
  iterateBatches,
  ListOffsetsRequest,
  ListOffsetsResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { SeededRandom, type World } from '@odradek/runtime';
import { type CrashLeaves, SimulatedWorld } from '@odradek/testing';
import { NoAnswerError, SimulatedClient } from './simulated-client.ts';

const brokerAddress = { host: 'broker', port: 9092 };
const topic = 'survivors';
const partitions = 2;
const producers = 4;
const crashes = 4;

export async function crashingBroker(seed: number): Promise<void> {
  const world = new SimulatedWorld({ seed, network: { maxDelayMs: 4, splitProbability: 0.2, cutProbability: 0.001 } });
  const random = new SeededRandom(seed);
  let broker = await world.run(start(world.machine('broker')));
  await world.run(createTopic(world));

  const run = { mayStop: false };
  const ids = Array.from({ length: producers }, (_, id) => id);
  const written = Promise.all(ids.map((id) => produce(world.machine(`producer-${id}`), id, random.nextInt(2 ** 32), run)));
  // A producer that fails while the broker is down is looked at when all have ended.
  written.catch(() => undefined);
  for (let crash = 0; crash < crashes; crash++) {
    await world.advance(20 + random.nextInt(1_500));
    const leaves: CrashLeaves = (['everything', 'something', 'nothing'] as const)[random.nextInt(3)]!;
    broker = await world.run(start(world.crash('broker', leaves)));
  }
  run.mayStop = true;
  const counts = await world.run(written, 600_000);
  await check(world, counts);

  await world.run(broker.close());
  broker = await world.run(start(world.crash('broker', 'everything')));
  await check(world, counts);
  await world.run(broker.close());
}

function start(machine: World): Promise<Broker> {
  return startBroker({
    world: machine,
    properties: {
      listeners: `PLAINTEXT://${brokerAddress.host}:${brokerAddress.port}`,
      'log.dirs': '/data',
      'log.flush.interval.messages': 1,
      // Short, so that crashes meet segments being rolled.
      'log.roll.ms': 250,
      'log.index.interval.bytes': 512,
    },
  });
}

async function createTopic(world: SimulatedWorld): Promise<void> {
  const client = new SimulatedClient(world.machine('admin'), brokerAddress);
  const request = { topics: [{ name: topic, numPartitions: partitions, replicationFactor: 1 }], timeoutMs: 5_000 };
  await untilAnswered(world, async () => {
    const [created] = (await client.send(CreateTopicsRequest, CreateTopicsResponse, 5, request)).topics;
    return created!.errorCode === errorCodes.TOPIC_ALREADY_EXISTS || unlessRefused(created!);
  });
  client.close();
}

/** Writes numbered records until it may stop; returns how many. Each batch is sent until it is acknowledged. */
async function produce(world: World, id: number, seed: number, run: { readonly mayStop: boolean }): Promise<number> {
  const random = new SeededRandom(seed);
  const client = new SimulatedClient(world, brokerAddress);
  const { producerId, producerEpoch } = await untilAnswered(world, async () => {
    const request = { transactionalId: null, transactionTimeoutMs: 60_000 };
    return unlessRefused(await client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request));
  });
  let count = 0;
  while (!run.mayStop) {
    const size = 1 + random.nextInt(5);
    const records = Array.from({ length: size }, (_, index) => ({
      timestamp: world.clock.wallTimeMs(),
      key: Buffer.from(`producer-${id}`),
      value: Buffer.from(String(count + index)),
    }));
    const batch = buildRecordBatch({ producerId, producerEpoch, baseSequence: count }, records);
    const partitionData = [{ index: id % partitions, records: batch }];
    await untilAnswered(world, async () => {
      const request = { acks: -1, timeoutMs: 1_000, topicData: [{ name: topic, partitionData }] };
      const answer = await client.send(ProduceRequest, ProduceResponse, 9, request);
      return unlessRefused(answer.responses[0]!.partitionResponses[0]!);
    });
    count += size;
  }
  client.close();
  return count;
}

/** Every producer's records, once each, in order, at offsets without a gap. */
async function check(world: SimulatedWorld, counts: readonly number[]): Promise<void> {
  const found = Array.from({ length: producers }, (): number[] => []);
  for (let partition = 0; partition < partitions; partition++) {
    for (const { key, value } of await world.run(readAll(world.machine('reader'), partition), 600_000)) {
      found[Number(key.slice('producer-'.length))]!.push(Number(value));
    }
  }
  assert.deepEqual(
    found,
    counts.map((count) => Array.from({ length: count }, (_, index) => index)),
  );
}

async function readAll(world: World, partition: number): Promise<{ key: string; value: string }[]> {
  const client = new SimulatedClient(world, brokerAddress);
  const end = await untilAnswered(world, async () => {
    const topics = [{ name: topic, partitions: [{ partitionIndex: partition, timestamp: -1 }] }];
    const answer = await client.send(ListOffsetsRequest, ListOffsetsResponse, 5, { replicaId: -1, topics });
    return unlessRefused(answer.topics[0]!.partitions[0]!);
  });
  const found: { key: string; value: string }[] = [];
  let fetchOffset = 0;
  while (fetchOffset < end.offset) {
    const answer = await untilAnswered(world, async () => {
      const topics = [{ topic, partitions: [{ partition, fetchOffset, partitionMaxBytes: 8_192 }] }];
      const request = { replicaId: -1, maxWaitMs: 500, minBytes: 1, maxBytes: 65_536, isolationLevel: 0, topics };
      const { responses } = await client.send(FetchRequest, FetchResponse, 11, request);
      return unlessRefused(responses[0]!.partitions[0]!);
    });
    for (const batch of iterateBatches(answer!.records ?? Buffer.alloc(0))) {
      for (const record of batch.records()) {
        assert.equal(record.offset, fetchOffset, `partition ${partition} has a gap`);
        found.push({ key: String(record.key), value: String(record.value) });
        fetchOffset++;
      }
    }
  }
  client.close();
  return found;
}

/** The answer, or undefined when it says to try again. */
function unlessRefused<A extends { readonly errorCode: number }>(answer: A): A | undefined {
  const { code, name, isRetriable } = errorByCode(answer.errorCode);
  assert.ok(code === errorCodes.NONE || isRetriable, `refused with ${name}`);
  return code === errorCodes.NONE ? answer : undefined;
}

/** Asks again after a while, as clients do, until there is an answer that is worth having. */
async function untilAnswered<T>(world: World, ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined) {
        return answer;
      }
    } catch (error) {
      if (!(error instanceof NoAnswerError)) {
        throw error;
      }
    }
    await new Promise<void>((resolve) => world.timer.schedule(20, resolve));
  }
}
