// The load that every scenario puts on the broker, and what must be true of it in the end: idempotent producers write numbered records
// with acks=all, and send each batch until it is acknowledged. Every record is then there once, in the order of its producer.

import assert from 'node:assert/strict';
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
import type { SimulatedWorld } from '@odradek/testing';
import { NoAnswerError, SimulatedClient } from './simulated-client.ts';

export const brokerAddress = { host: 'broker', port: 9092 };
const topic = 'survivors';
const partitions = 2;
const producers = 4;

/** Producers at work, until they are told to stop. */
export class Workload {
  readonly #world: SimulatedWorld;
  readonly #written: Promise<number[]>;
  #mayStop = false;

  private constructor(world: SimulatedWorld, random: SeededRandom) {
    this.#world = world;
    const ids = Array.from({ length: producers }, (_, id) => id);
    const mayStop = (): boolean => this.#mayStop;
    this.#written = Promise.all(ids.map((id) => produce(world.machine(`producer-${id}`), id, random.nextInt(2 ** 32), mayStop)));
    // A producer that fails while something else is awaited is looked at when all have ended.
    this.#written.catch(() => undefined);
  }

  static async start(world: SimulatedWorld, random: SeededRandom): Promise<Workload> {
    await world.run(createTopic(world));
    return new Workload(world, random);
  }

  /** Returns how many records each producer wrote. */
  stop(): Promise<readonly number[]> {
    this.#mayStop = true;
    return this.#world.run(this.#written, 600_000);
  }
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
async function produce(world: World, id: number, seed: number, mayStop: () => boolean): Promise<number> {
  const random = new SeededRandom(seed);
  const client = new SimulatedClient(world, brokerAddress);
  const { producerId, producerEpoch } = await untilAnswered(world, async () => {
    const request = { transactionalId: null, transactionTimeoutMs: 60_000 };
    return unlessRefused(await client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request));
  });
  let count = 0;
  while (!mayStop()) {
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
export async function checkRecords(world: SimulatedWorld, counts: readonly number[]): Promise<void> {
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
