// A topic is deleted and made anew under its name again and again, while others write to it, read it and wait for it: nothing of one
// incarnation is ever found in another. Who names it by id never reaches another one.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  buildRecordBatch,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  errorByCode,
  FetchRequest,
  FetchResponse,
  FindCoordinatorRequest,
  FindCoordinatorResponse,
  InitProducerIdRequest,
  InitProducerIdResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import {
  debianProgram,
  needed,
  type OdradekProcess,
  RawClient,
  runCommand,
  skipWithout,
  startOdradekProcess,
  until,
} from '@odradek/testing';
import { BrokerConversation, recordsOf } from '../cases/broker-conversation.ts';

const kcat = await debianProgram('kcat', 'kcat');
const incarnations = Number(process.env['ODRADEK_INCARNATIONS'] ?? 5);
const topic = 'again';
const partitions = 3;

/** Writes records that say which incarnation they are meant for, by its id. */
class WriterById {
  readonly #client: RawClient;
  readonly #partition: number;
  /** Values that were acknowledged, by the id. */
  readonly acknowledged = new Map<string, string[]>();
  topicId: string | undefined;
  isStopped = false;
  #count = 0;

  constructor(client: RawClient, partition: number) {
    this.#client = client;
    this.#partition = partition;
  }

  async run(): Promise<void> {
    while (!this.isStopped) {
      await new Promise((resolve) => setTimeout(resolve, 3));
      const { topicId } = this;
      if (topicId === undefined) continue;
      const value = `${topicId} ${this.#partition} ${this.#count++}`;
      const records = buildRecordBatch({}, [{ value: Buffer.from(value), timestamp: Date.now() }]);
      const topicData = [{ topicId, partitionData: [{ index: this.#partition, records }] }];
      const request = { acks: -1, timeoutMs: 5000, topicData };
      const { responses } = await this.#client.send(ProduceRequest, ProduceResponse, 13, request);
      const code = responses[0]?.partitionResponses[0]?.errorCode ?? -1;
      if (code !== 0) {
        const { name } = errorByCode(code);
        assert.ok(
          ['UNKNOWN_TOPIC_ID', 'NOT_LEADER_OR_FOLLOWER', 'UNKNOWN_TOPIC_OR_PARTITION', 'INCONSISTENT_TOPIC_ID'].includes(name),
          name,
        );
        continue;
      }
      const values = this.acknowledged.get(topicId) ?? [];
      values.push(value);
      this.acknowledged.set(topicId, values);
    }
  }
}

/** Waits for more than there will be, by id; what it is told in the end, and what it has read. */
async function waitFor(client: RawClient, topicId: string): Promise<{ readonly error: string; readonly values: string[] }> {
  const wanted = [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 100_000_000 }];
  const topics = [{ topicId, partitions: wanted }];
  const request = { maxWaitMs: 30_000, minBytes: 90_000_000, maxBytes: 100_000_000, sessionId: 0, sessionEpoch: 0, topics };
  const answer = await client.send(FetchRequest, FetchResponse, 13, request);
  const found = answer.responses[0]?.partitions[0];
  const values = recordsOf(found?.records ?? null).map(({ value }) => String(value));
  return { error: errorByCode(answer.errorCode || (found?.errorCode ?? 0)).name, values };
}

async function createAsSoonAsPossible(client: RawClient): Promise<string> {
  return until('the name is free', async () => {
    const configs = [{ name: 'file.delete.delay.ms', value: '100' }];
    const topics = [{ name: topic, numPartitions: partitions, replicationFactor: 1, configs }];
    const { topics: created } = await client.send(CreateTopicsRequest, CreateTopicsResponse, 7, { topics, timeoutMs: 10_000 });
    const { name } = errorByCode(created[0]!.errorCode);
    assert.ok(['NONE', 'TOPIC_ALREADY_EXISTS'].includes(name), name);
    return name === 'NONE' && created[0]!.topicId;
  });
}

function asConversation(odradek: OdradekProcess): Promise<BrokerConversation> {
  const { host, port, bootstrap } = odradek;
  return BrokerConversation.open({ host, port, bootstrap, odradek, close: async () => undefined });
}

test(`a topic made anew ${incarnations} times under load`, { skip: skipWithout(kcat), timeout: 120_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'odradek-again-'));
  const directories = [join(root, 'one'), join(root, 'two')];
  await using odradek = await startOdradekProcess({ dataDirectories: directories });
  const { port } = odradek;
  await using conversation = await asConversation(odradek);
  await using admin = await RawClient.connect({ port });
  const writers: WriterById[] = [];
  for (let partition = 0; partition < partitions; partition++)
    writers.push(new WriterById(await RawClient.connect({ port }), partition));
  const running = Promise.all(writers.map((writer) => writer.run()));
  running.catch(() => undefined); // Whatever goes wrong is seen where it is awaited.
  const { producerId, producerEpoch } = await admin.send(InitProducerIdRequest, InitProducerIdResponse, 4, {
    transactionalId: null,
    transactionTimeoutMs: 60_000,
  });
  const ids = new Set<string>();

  for (let incarnation = 0; incarnation < incarnations; incarnation++) {
    const topicId = await createAsSoonAsPossible(admin);
    assert.ok(!ids.has(topicId), 'each has an id of its own');
    ids.add(topicId);
    await conversation.ledTopic(topic);

    // What groups had committed is gone with the topic before this one.
    const fetched = await admin.send(OffsetFetchRequest, OffsetFetchResponse, 8, {
      groups: [{ groupId: 'readers', topics: [{ name: topic, partitionIndexes: [0] }] }],
    });
    const offset = fetched.groups[0]?.topics[0]?.partitions[0];
    if (incarnation > 0) assert.deepEqual([errorByCode(offset?.errorCode ?? -1).name, offset?.committedOffset], ['NONE', -1]);

    // A producer begins at sequence 0 in each, and is known to none of them.
    const idempotent = buildRecordBatch({ producerId, producerEpoch, baseSequence: 0 }, [
      { value: Buffer.from(`${topicId} idempotent`), timestamp: Date.now() },
    ]);
    const offsetOfFirst = await conversation.append(topic, idempotent, { partition: 0 });
    assert.equal(offsetOfFirst, 0, 'it is new here, and the first');

    for (const writer of writers) writer.topicId = topicId;
    const acknowledged = (): number => writers.reduce((sum, writer) => sum + (writer.acknowledged.get(topicId)?.length ?? 0), 0);
    await Promise.race([running, until('records are written', () => acknowledged() > 60)]);
    await runCommand(needed(kcat), ['-P', '-b', odradek.bootstrap, '-t', topic, '-X', 'topic.metadata.refresh.interval.ms=100'], {
      stdin: Array.from({ length: 20 }, (_, index) => `${topicId} kcat ${index}\n`).join(''),
    });
    // It stops at the end, which must not go on for ever.
    for (const writer of writers) writer.topicId = undefined;
    const { stdout } = await runCommand(needed(kcat), ['-C', '-b', odradek.bootstrap, '-t', topic, '-o', 'beginning', '-e', '-q']);
    const read = stdout.toString().trim().split('\n');
    const foreign = read.filter((line) => !line.startsWith(topicId));
    assert.deepEqual(foreign, [], 'nothing of an earlier incarnation');
    assert.equal(read.filter((line) => line.includes(' kcat ')).length, 20);

    await until('there is a coordinator', async () => {
      const request = { keyType: 0, coordinatorKeys: ['readers'] };
      const { coordinators } = await admin.send(FindCoordinatorRequest, FindCoordinatorResponse, 4, request);
      return coordinators[0]?.errorCode === 0;
    });
    const commit = async (): Promise<string> => {
      const answer = await admin.send(OffsetCommitRequest, OffsetCommitResponse, 8, {
        groupId: 'readers',
        generationIdOrMemberEpoch: -1,
        memberId: '',
        topics: [{ name: topic, partitions: [{ partitionIndex: 0, committedOffset: 5 }] }],
      });
      return errorByCode(answer.topics[0]?.partitions[0]?.errorCode ?? -1).name;
    };
    await until('the offset is committed', async () => (await commit()) === 'NONE');

    for (const writer of writers) writer.topicId = topicId;
    // Somebody waits for data while the topic goes, and the next one is asked for before this one has gone.
    await using waiting = await RawClient.connect({ port });
    const told = waitFor(waiting, topicId);
    await admin.send(DeleteTopicsRequest, DeleteTopicsResponse, 6, { topics: [{ name: topic }], timeoutMs: 0 });
    const { error, values } = await told;
    assert.ok(
      ['UNKNOWN_TOPIC_ID', 'INCONSISTENT_TOPIC_ID', 'UNKNOWN_TOPIC_OR_PARTITION', 'NOT_LEADER_OR_FOLLOWER'].includes(error),
      `who waited was told ${error}`,
    );
    assert.ok(values.every((value) => value.startsWith(topicId)));
  }

  const last = await createAsSoonAsPossible(admin);
  for (const writer of writers) writer.isStopped = true;
  await running;
  assert.ok(!ids.has(last));
  // The writers had the id of the one before to the end: nothing of theirs is here.
  for (let partition = 0; partition < partitions; partition++) {
    await conversation.ledTopic(topic);
    assert.equal(await conversation.endOffset(topic, partition), 0);
  }
  await until('all that was deleted is removed from the disks', () => {
    const folders = directories.flatMap((directory) => readdirSync(directory)).filter((name) => name.startsWith(topic));
    return folders.length === partitions;
  });
  rmSync(root, { recursive: true, force: true });
});
