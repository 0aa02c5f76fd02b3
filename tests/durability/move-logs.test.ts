// Partitions move between log directories while they are written to, and the broker is killed in the middle of it: every
// acknowledged record is there once and in order, and each partition ends in one place.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  AlterReplicaLogDirsRequest,
  AlterReplicaLogDirsResponse,
  DescribeLogDirsRequest,
  DescribeLogDirsResponse,
} from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { ConnectionClosedError, RawClient, startOdradekProcess, until } from '@odradek/testing';
import { BrokerConversation } from '../cases/broker-conversation.ts';
import { AcknowledgedWriter } from './acknowledged-writer.ts';
import { assertKept, readPartition } from './partition-contents.ts';
import { assertInOrder, assertMendable } from './verified-directories.ts';

const kills = Number(process.env['ODRADEK_KILLS'] ?? 5);
const seed = Number(process.env['ODRADEK_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const partitions = 3;

/** Asks for a move; undefined when the broker went away meanwhile. */
async function move(port: number, topic: string, partition: number, path: string): Promise<number | undefined> {
  try {
    await using client = await RawClient.connect({ port });
    const request = { dirs: [{ path, topics: [{ name: topic, partitions: [partition] }] }] };
    const { results } = await client.send(AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse, 2, request);
    return results[0]?.partitions[0]?.errorCode;
  } catch (error) {
    if (error instanceof ConnectionClosedError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}

test(`moves under load, and ${kills} times kill -9 (seed ${seed})`, { timeout: 200_000 }, async () => {
  const random = new SeededRandom(seed);
  const root = mkdtempSync(join(tmpdir(), 'odradek-moves-'));
  const directories = ['one', 'two', 'three'].map((name) => join(root, name));
  for (const directory of directories) mkdirSync(directory);
  const properties = { 'log.flush.offset.checkpoint.interval.ms': 500 };
  await using odradek = await startOdradekProcess({ dataDirectories: directories, properties });
  const { port, host, bootstrap } = odradek;
  let topic = '';
  {
    await using conversation = await BrokerConversation.open({ host, port, bootstrap, odradek, close: async () => undefined });
    topic = await conversation.createTopic('moves', { partitions, configs: { 'segment.bytes': '1048576' } });
  }
  const writers = Array.from({ length: 6 }, (_, index) => {
    const name = `${index % 2 === 0 ? 'idempotent' : 'plain'}-${index}`;
    const isIdempotent = index % 2 === 0;
    const partition = index % partitions;
    return new AcknowledgedWriter({ port, name, topic, partition, isIdempotent, recordsPerBatch: 3, recordBytes: 2000 });
  });
  const running = Promise.all(writers.map((writer) => writer.run()));
  running.catch(() => undefined); // Whatever goes wrong is seen where it is awaited.
  const acknowledged = (): number => writers.reduce((sum, writer) => sum + writer.acknowledged.length, 0);

  let moves = 0;
  for (let kill = 0; kill < kills; kill++) {
    // A few kills come while nothing moves any more, most of them in the middle.
    for (let count = 0; count < 4; count++) {
      for (let partition = 0; partition < partitions; partition++) {
        const outcome = await move(port, topic, partition, directories[random.nextInt(directories.length)]!);
        if (outcome === 0) moves += 1;
      }
      const wanted = acknowledged() + random.nextInt(60);
      await Promise.race([
        running,
        until(`${wanted} records are acknowledged`, () => acknowledged() >= wanted, { everyMs: 1, timeoutMs: 60_000 }),
      ]);
    }
    await odradek.kill();
    assertMendable(directories);
    await odradek.start();
  }
  // Each is answered once more, so that nothing is in doubt that the writers do not know of.
  const counts = writers.map((writer) => writer.acknowledged.length);
  const isAnswered = (): boolean => writers.every((writer, index) => writer.acknowledged.length > (counts[index] ?? 0));
  await Promise.race([running, until('the last start is followed by more records', isAnswered, { timeoutMs: 60_000 })]);
  for (const writer of writers) writer.stop();
  await running;
  assert.ok(moves > kills, `only ${moves} moves began`);

  // What was under way goes on by itself, until nothing is.
  await until('nothing moves any more', async () => {
    await using client = await RawClient.connect({ port });
    const { results } = await client.send(DescribeLogDirsRequest, DescribeLogDirsResponse, 4, { topics: null });
    return results.every(({ topics }) => topics.every((one) => one.partitions.every(({ isFutureKey }) => !isFutureKey)));
  });
  for (let partition = 0; partition < partitions; partition++) {
    // The old place goes only when the new name is on the device.
    await until(
      `partition ${partition} lies in one place`,
      () => directories.filter((directory) => readdirSync(directory).includes(`${topic}-${partition}`)).length === 1,
    );
    const values = await readPartition(port, topic, partition);
    for (const writer of writers.filter((one) => one.partition === partition)) assertKept(values, writer);
  }
  await odradek.stop();
  assertInOrder(directories);
  rmSync(root, { recursive: true, force: true });
});
