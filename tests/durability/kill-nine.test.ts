// kill -9 under load, fifty times in a row: every acknowledged record is there once and in order, and each start looks
// through the end of the logs only.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildRecordBatch } from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { type BrokerUnderTest, type OdradekProcess, startOdradekProcess, until } from '@odradek/testing';
import { BrokerConversation } from '../cases/broker-conversation.ts';
import { AcknowledgedWriter } from './acknowledged-writer.ts';
import { assertKept, readPartition } from './partition-contents.ts';
import { assertInOrder, assertMendable } from './verified-directories.ts';

const kills = Number(process.env['ODRADEK_KILLS'] ?? 50);
const seed = Number(process.env['ODRADEK_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const partitions = 3;
const segmentBytes = 1024 * 1024;

function asBroker(odradek: OdradekProcess): BrokerUnderTest {
  const { host, port, bootstrap } = odradek;
  return { host, port, bootstrap, odradek, close: () => odradek.close() };
}

interface Recovered {
  readonly scannedSegments: number;
  readonly scannedBytes: number;
}

/** What the broker says of its last start. */
async function recovered(odradek: OdradekProcess): Promise<Recovered> {
  const line = await until('the broker tells what it recovered', () =>
    odradek.output.split('\n').find((one) => one.includes('Recovered the logs after an unclean stop')),
  );
  const number = (name: string): number => Number(new RegExp(`${name}=(\\d+)`).exec(line)?.[1]);
  return { scannedSegments: number('scannedSegments'), scannedBytes: number('scannedBytes') };
}

test(`${kills} times kill -9 under load (seed ${seed})`, { timeout: 400_000 }, async () => {
  const random = new SeededRandom(seed);
  await using odradek = await startOdradekProcess({ properties: { 'log.flush.offset.checkpoint.interval.ms': 500 } });
  const { port } = odradek;
  let topic = '';
  {
    await using conversation = await BrokerConversation.open(asBroker(odradek));
    topic = await conversation.createTopic('kills', { partitions, configs: { 'segment.bytes': String(segmentBytes) } });
  }
  const writers = Array.from(
    { length: 9 },
    (_, index) =>
      new AcknowledgedWriter({
        port,
        name: `${index % 2 === 0 ? 'idempotent' : 'plain'}-${index}`,
        topic,
        partition: index % partitions,
        isIdempotent: index % 2 === 0,
        recordsPerBatch: 1 + random.nextInt(5),
        recordBytes: 50 + random.nextInt(2000),
      }),
  );
  const running = Promise.all(writers.map((writer) => writer.run()));
  running.catch(() => undefined); // Whatever goes wrong is seen where it is awaited.
  const acknowledged = (): number => writers.reduce((sum, writer) => sum + writer.acknowledged.length, 0);

  for (let kill = 0; kill < kills; kill++) {
    const wanted = acknowledged() + 50 + random.nextInt(600);
    await Promise.race([
      running,
      until(`${wanted} records are acknowledged`, () => acknowledged() >= wanted, { everyMs: 1, timeoutMs: 60_000 }),
    ]);
    await odradek.kill();
    // Not each time: it reads all that there is.
    if (kill % 10 === 0) assertMendable(odradek.dataDirectories);
    await odradek.start();
  }
  const enough = acknowledged() + 1000;
  await until('the last start is followed by more records', () => acknowledged() >= enough, { timeoutMs: 60_000 });
  for (const writer of writers) writer.stop();
  await running;

  await odradek.kill();
  await odradek.start();
  for (let partition = 0; partition < partitions; partition++) {
    const values = await readPartition(port, topic, partition);
    for (const writer of writers.filter((one) => one.partition === partition)) assertKept(values, writer);
  }
  await odradek.stop();
  assertInOrder(odradek.dataDirectories);
});

test('the start after a kill looks through the end of the logs only', { timeout: 120_000 }, async () => {
  await using odradek = await startOdradekProcess();
  const broker = asBroker(odradek);
  const value = Buffer.alloc(200_000, 'x');
  const batch = (): Buffer => buildRecordBatch({}, [{ value, timestamp: Date.now() }]);
  let topic: string;
  {
    await using conversation = await BrokerConversation.open(broker);
    topic = await conversation.createTopic('tail', { configs: { 'segment.bytes': String(segmentBytes) } });
    for (let count = 0; count < 150; count++) await conversation.append(topic, batch());
  }
  // After a clean stop everything is known to be on the device, so only what comes later is in question.
  await odradek.stop();
  await odradek.start();
  {
    await using conversation = await BrokerConversation.open(broker);
    await conversation.ledTopic(topic);
    for (let count = 0; count < 3; count++) await conversation.append(topic, batch());
  }
  await odradek.kill();
  await odradek.start();
  const { scannedSegments, scannedBytes } = await recovered(odradek);
  assert.ok(scannedSegments >= 1 && scannedSegments <= 3, `${scannedSegments} of about 30 segments`);
  assert.ok(scannedBytes <= 3 * segmentBytes, `${scannedBytes} bytes`);
  await using conversation = await BrokerConversation.open(broker);
  await conversation.ledTopic(topic);
  assert.equal(await conversation.endOffset(topic), 153);
});
