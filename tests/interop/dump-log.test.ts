// kafka-dump-log of Apache Kafka reads the folders that we write, and finds nothing wrong in logs, indexes and snapshots;
// while the broker runs, after a clean stop, and after kill -9 and recovery.

import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { buildRecordBatch, compressionTypes, InitProducerIdRequest, InitProducerIdResponse } from '@odradek/protocol';
import { needed, type OdradekProcess, skipWithout, startOdradekProcess } from '@odradek/testing';
import { BrokerConversation } from '../cases/broker-conversation.ts';
import { kafkaTools, runJava } from './java.ts';
import { sampleRecords } from './round-trip.ts';

const tools = await kafkaTools();

describe('kafka-dump-log', { skip: skipWithout(tools) }, () => {
  let odradek: OdradekProcess;
  const topics: string[] = [];

  before(async () => {
    odradek = await startOdradekProcess();
    await using conversation = await connect();
    const small = { 'segment.bytes': '1048576', 'index.interval.bytes': '1024' };
    for (const compression of compressionTypes) {
      const topic = await conversation.createTopic(`dump-${compression}`, { configs: small });
      topics.push(topic);
      const records = sampleRecords().map(({ key, value, headers }, index) => ({
        key,
        value,
        timestamp: Date.now() - 1000 + index,
        headers: headers.map(([name, bytes]) => ({ key: name, value: bytes })),
      }));
      const request = { transactionalId: null, transactionTimeoutMs: 60_000, producerId: -1, producerEpoch: -1 };
      const { producerId } = await conversation.client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request);
      // Enough for several segments of each, with and without a producer id.
      for (let round = 0; round < 8; round++) {
        const producer = round % 2 === 0 ? { producerId, producerEpoch: 0, baseSequence: (round / 2) * records.length } : {};
        await conversation.append(topic, buildRecordBatch({ compression, ...producer }, records));
      }
      for (const record of records.slice(0, 40)) {
        await conversation.append(topic, buildRecordBatch({ compression }, [record]));
      }
    }
    topics.push(
      await conversation.createTopic('dump-append-time', { configs: { ...small, 'message.timestamp.type': 'LogAppendTime' } }),
    );
    for (let count = 0; count < 20; count++) {
      await conversation.append(topics.at(-1) ?? '', buildRecordBatch({}, [{ value: Buffer.alloc(100_000), timestamp: 5 }]));
    }
  });
  after(() => odradek?.close());

  function connect(): Promise<BrokerConversation> {
    const { host, port, bootstrap } = odradek;
    return BrokerConversation.open({ host, port, bootstrap, odradek, close: () => odradek.close() });
  }

  /** Files of all topics that end so and are not empty. */
  function files(extension: string): string[] {
    const [data = ''] = odradek.dataDirectories;
    return topics
      .flatMap((topic) => readdirSync(join(data, `${topic}-0`)).map((name) => join(data, `${topic}-0`, name)))
      .filter((path) => path.endsWith(extension) && statSync(path).size > 0);
  }

  async function dump(paths: readonly string[], args: readonly string[] = []): Promise<string> {
    assert.ok(paths.length > 0);
    const all = ['--files', paths.join(','), ...args];
    const { stdout, stderr } = await runJava(needed(tools), 'org.apache.kafka.tools.DumpLogSegments', all, { timeoutMs: 120_000 });
    return stdout.toString() + stderr;
  }

  async function assertNoComplaint(): Promise<void> {
    const logs = await dump(files('.log'), ['--deep-iteration']);
    assert.ok((logs.match(/isvalid: true/g) ?? []).length > 200);
    assert.doesNotMatch(logs, /isvalid: false|mismatch|corrupt|[Nn]on-?secutive|invalid bytes|Exception/);
    // Against the logs that they belong to.
    const verified = await dump([...files('.index'), ...files('.timeindex')], ['--verify-index-only', '--deep-iteration']);
    assert.doesNotMatch(verified, /mismatch|out of order|corrupt|Exception|[Nn]on-?consecutive/);
    const sane = await dump([...files('.index'), ...files('.timeindex')], ['--index-sanity-check']);
    assert.doesNotMatch(sane, /mismatch|out of order|corrupt|Exception/);
    assert.ok((sane.match(/passed sanity check/g) ?? []).length > 10, sane.slice(0, 500));
  }

  test('after a clean stop', async () => {
    await odradek.stop();
    await assertNoComplaint();
    const snapshots = await dump(files('.snapshot'));
    assert.match(snapshots, /producerId: \d+ producerEpoch: 0 .*lastTimestamp: \d+ firstSequence: \d+ lastSequence: \d+/);
  });

  test('after kill -9 and the recovery that follows', async () => {
    await odradek.start();
    {
      await using conversation = await connect();
      for (const topic of topics) {
        await conversation.ledTopic(topic);
        await conversation.append(
          topic,
          buildRecordBatch({}, [{ value: Buffer.from('after the restart'), timestamp: Date.now() }]),
        );
      }
    }
    await odradek.kill();
    await odradek.start();
    await using conversation = await connect();
    for (const topic of topics) await conversation.ledTopic(topic);
    await odradek.stop();
    await assertNoComplaint();
  });
});
