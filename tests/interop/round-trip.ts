// What every foreign client is asked to do: write the same records with each codec, and read them back unchanged. kcat,
// where it is installed, reads each topic as a second opinion.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type BrokerUnderTest, brokerUnderTest, skipWithout, type Tool, uniqueName } from '@odradek/testing';
import { findKcat, kcatConsume } from './kcat.ts';

export type Codec = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd';

export const allCodecs: readonly Codec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

export interface SampleRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [string, Buffer])[];
}

export interface ForeignClient {
  readonly name: string;
  readonly tools: readonly Tool<unknown>[];
  readonly codecs: readonly Codec[];
  /** Which of the sample records the client is able to send. */
  readonly canSend?: (record: SampleRecord) => boolean;
  /** Writes the records to partition 0 of the topic, which the broker creates on its own. */
  produce(bootstrap: string, topic: string, codec: Codec, records: readonly SampleRecord[]): Promise<void>;
  /** Reads `count` records from the beginning of partition 0, without a group. */
  consume(bootstrap: string, topic: string, count: number): Promise<SampleRecord[]>;
}

export function roundTripTests(client: ForeignClient): void {
  describe(`${client.name} writes and reads`, { skip: skipWithout(...client.tools) }, async () => {
    const kcat = await findKcat();
    let broker: BrokerUnderTest;
    before(async () => {
      broker = await brokerUnderTest();
    });
    after(() => broker?.close());

    for (const codec of client.codecs) {
      test(`with codec ${codec}`, async () => {
        const topic = uniqueName(`${client.name.replaceAll(/[^a-z0-9]/g, '-')}-${codec}`);
        const records = sampleRecords().filter(client.canSend ?? (() => true));
        await client.produce(broker.bootstrap, topic, codec, records);
        assertSameRecords(await client.consume(broker.bootstrap, topic, records.length), records);
        if (kcat.tool !== undefined) {
          const seen = await kcatConsume(kcat.tool, broker.bootstrap, topic);
          assert.deepEqual(seen.map(withoutHeaders), records.map(withoutHeaders), 'kcat reads the same records');
        }
      });
    }
  });
}

/** Compares record by record, so that a difference is shown and not two lists of hundreds. */
export function assertSameRecords(actual: readonly SampleRecord[], expected: readonly SampleRecord[]): void {
  for (const [index, record] of expected.entries()) {
    assert.deepEqual(actual[index], record, `record ${index}`);
  }
  assert.equal(actual.length, expected.length);
}

function withoutHeaders(record: SampleRecord): Pick<SampleRecord, 'key' | 'value'> {
  return { key: record.key, value: record.value };
}

/** Some 300 records: the odd ones first, then many alike, then one that is larger than a block of any codec. */
export function sampleRecords(): SampleRecord[] {
  const odd: SampleRecord[] = [
    { key: null, value: Buffer.from('no key'), headers: [] },
    { key: Buffer.from('tombstone'), value: null, headers: [] },
    { key: Buffer.alloc(0), value: Buffer.alloc(0), headers: [] },
    { key: Buffer.from('ключ'), value: Buffer.from('значение — värde — 値 — 🦋'), headers: [['język', Buffer.from('polski')]] },
    { key: Buffer.from([0, 1, 2, 253, 254, 255]), value: Buffer.from([255, 0, 128, 10, 13]), headers: [] },
    {
      key: Buffer.from('headers'),
      value: Buffer.from('with headers'),
      headers: [
        ['trace', Buffer.from([0, 255, 7])],
        ['trace', Buffer.from('again under the same name')],
        ['empty', Buffer.alloc(0)],
      ],
    },
  ];
  const alike = Array.from({ length: 300 }, (_, index) => ({
    key: Buffer.from(`key-${index % 7}`),
    value: Buffer.from(`{"index":${index},"text":"${'Odradek lingers by turns in the garret. '.repeat(index % 13)}"}`),
    headers: [],
  }));
  const large = Buffer.alloc(200_000);
  for (let position = 0, state = 12345; position < large.length; position++) {
    // Half noise, half repetition: the codecs neither give up nor shrink it to nothing.
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    large[position] = position % 512 < 256 ? state >>> 24 : 111;
  }
  return [...odd, ...alike, { key: Buffer.from('large'), value: large, headers: [] }];
}
