// kafka-clients 0.9.0.1: never asks ApiVersions, writes message format 0 and must be given records in that format, even
// those that a modern client wrote.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type BrokerUnderTest, brokerUnderTest, needed, skipWithout, uniqueName } from '@odradek/testing';
import { legacyClient, modernClient, runJava } from './java.ts';
import { readRecordLines, writeRecordLines } from './record-lines.ts';
import { assertSameRecords, type Codec, roundTripTests, type SampleRecord, sampleRecords } from './round-trip.ts';

const legacy = await legacyClient();
const modern = await modernClient();
const codecs: readonly Codec[] = ['none', 'gzip', 'snappy', 'lz4'];

async function consume(bootstrap: string, topic: string, count: number): Promise<SampleRecord[]> {
  const { stdout } = await runJava(needed(legacy), 'LegacyClient', ['consume', bootstrap, topic, String(count)]);
  return readRecordLines(stdout);
}

async function produce(bootstrap: string, topic: string, codec: Codec, records: readonly SampleRecord[]): Promise<void> {
  await runJava(needed(legacy), 'LegacyClient', ['produce', bootstrap, topic, codec], { stdin: writeRecordLines(records) });
}

roundTripTests({
  name: 'kafka-clients 0.9.0.1',
  tools: [legacy],
  codecs,
  canSend: (record) => record.headers.length === 0,
  produce,
  consume,
});

describe('kafka-clients 0.9.0.1 beside a modern client', { skip: skipWithout(legacy, modern) }, () => {
  let broker: BrokerUnderTest;
  before(async () => {
    broker = await brokerUnderTest();
  });
  after(() => broker?.close());

  for (const codec of codecs) {
    test(`reads what the modern client wrote with ${codec}, without its headers`, async () => {
      const topic = uniqueName(`down-conversion-${codec}`);
      const args = ['produce', broker.bootstrap, topic, codec];
      await runJava(needed(modern), 'ModernClient', args, { stdin: writeRecordLines(sampleRecords()) });
      const expected = sampleRecords().map((record) => ({ ...record, headers: [] }));
      assertSameRecords(await consume(broker.bootstrap, topic, expected.length), expected);
    });
  }

  test('what it wrote is read by the modern client', async () => {
    const topic = uniqueName('old-to-new');
    const records = sampleRecords().filter((record) => record.headers.length === 0);
    for (const codec of codecs) {
      await produce(broker.bootstrap, topic, codec, records);
    }
    const count = records.length * codecs.length;
    const { stdout } = await runJava(needed(modern), 'ModernClient', ['consume', broker.bootstrap, topic, String(count)]);
    assertSameRecords(
      readRecordLines(stdout),
      codecs.flatMap(() => records),
    );
    assert.equal(count, readRecordLines(stdout).length);
  });
});
