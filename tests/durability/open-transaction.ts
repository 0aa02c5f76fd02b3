// A transaction that has committed an offset for a group and has not ended: its record is put into the log of the broker while
// that is down, as the transactional producer would have put it there.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildControlBatch,
  buildRecordBatch,
  encodeToBuffer,
  OffsetCommitKey,
  OffsetCommitValue,
  OffsetFetchRequest,
  OffsetFetchResponse,
} from '@odradek/protocol';
import { createSystemWorld } from '@odradek/runtime';
import { defaultLogConfig, LogManager, type PartitionLog } from '@odradek/storage';
import { RawClient, until } from '@odradek/testing';

export interface TransactionalCommit {
  readonly producerId: number;
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

const producerEpoch = 0;
const internalTopic = '__consumer_offsets';

/** The group must have committed something before, so that its partition of the internal topic can be told. */
export async function beginTransaction(dataDirectory: string, commit: TransactionalCommit): Promise<void> {
  const { group, topic, partition, offset, producerId } = commit;
  const key = Buffer.concat([Buffer.from([0, 1]), encodeToBuffer(OffsetCommitKey, 0, { group, topic, partition })]);
  const commitTimestamp = Date.now();
  const value = { offset, leaderEpoch: -1, metadata: 'transactional', commitTimestamp };
  const record = { key, value: Buffer.concat([Buffer.from([0, 3]), encodeToBuffer(OffsetCommitValue, 3, value)]) };
  const producer = { producerId, producerEpoch, baseSequence: 0, isTransactional: true };
  await append(dataDirectory, group, buildRecordBatch(producer, [{ timestamp: commitTimestamp, ...record }]));
}

export async function endTransaction(dataDirectory: string, commit: TransactionalCommit, type: 'commit' | 'abort'): Promise<void> {
  const { producerId, group } = commit;
  const marker = buildControlBatch({ producerId, producerEpoch, type, coordinatorEpoch: 0, timestamp: Date.now() });
  await append(dataDirectory, group, marker);
}

async function append(dataDirectory: string, group: string, batch: Buffer): Promise<void> {
  const world = createSystemWorld({ log: { write: () => undefined } });
  const manager = LogManager.open({ world, directories: [dataDirectory], topicLogConfig: () => defaultLogConfig });
  try {
    await manager.load();
    const log = logOf(manager, dataDirectory, group);
    await log.appendAsLeader(batch, { leaderEpoch: log.latestEpoch ?? 0, origin: 'coordinator' }).written;
  } finally {
    await manager.close();
    world.timer.close();
  }
}

function logOf(manager: LogManager, dataDirectory: string, group: string): PartitionLog {
  const folder = readdirSync(dataDirectory).find(
    (name) => name.startsWith(internalTopic) && holds(join(dataDirectory, name), group),
  );
  const log = manager.get({ topic: internalTopic, partition: Number(folder?.slice(internalTopic.length + 1)) });
  assert.ok(log !== undefined, `no partition of ${internalTopic} has the group ${group}`);
  return log;
}

function holds(folder: string, group: string): boolean {
  return readdirSync(folder).some((name) => name.endsWith('.log') && readFileSync(join(folder, name)).includes(group));
}

/** What OffsetFetch answers to one who waits for transactions to end, and to one who does not; `…` for an open one. */
export async function transactionalOffset(port: number, { group, topic, partition }: TransactionalCommit): Promise<string> {
  const groups = [{ groupId: group, topics: [{ name: topic, partitionIndexes: [partition] }] }];
  return until('the group is loaded', async () => {
    await using client = await RawClient.connect({ port });
    const answers: (number | string | undefined)[] = [];
    for (const requireStable of [true, false]) {
      const answer = await client.send(OffsetFetchRequest, OffsetFetchResponse, 8, { groups, requireStable });
      const fetched = answer.groups[0];
      if (fetched?.errorCode !== 0) return undefined;
      const found = fetched.topics[0]?.partitions[0];
      answers.push(found?.errorCode === unstableOffsetCommit ? 'unstable' : found?.committedOffset);
    }
    return answers.join(', ');
  });
}

const unstableOffsetCommit = 88;
