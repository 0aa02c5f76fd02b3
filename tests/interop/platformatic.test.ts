// @platformatic/kafka. Its consumer streams always join a group, so records are read through the client's own fetch,
// which keeps a fetch session and asks by topic id; no group is involved.

import assert from 'node:assert/strict';
import { type CompressionAlgorithmValue, Consumer, Producer } from '@platformatic/kafka';
import { allCodecs, roundTripTests, type SampleRecord } from './round-trip.ts';

/** Header values of one name are kept in a map, and an absent value is a null. */
function canSend(record: SampleRecord): boolean {
  return new Set(record.headers.map(([name]) => name)).size === record.headers.length;
}

async function produce(bootstrap: string, topic: string, codec: string, records: readonly SampleRecord[]): Promise<void> {
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    clientId: 'platformatic',
    bootstrapBrokers: [bootstrap],
    autocreateTopics: true,
  });
  try {
    const half = Math.ceil(records.length / 2);
    for (const part of [records.slice(0, half), records.slice(half)]) {
      await producer.send({
        acks: -1,
        compression: codec as CompressionAlgorithmValue,
        messages: part.map((record) => ({
          topic,
          partition: 0,
          ...(record.key === null ? {} : { key: record.key }),
          ...(record.value === null ? {} : { value: record.value }),
          headers: new Map(record.headers.map(([name, value]) => [Buffer.from(name), value])),
        })),
      });
    }
  } finally {
    await producer.close();
  }
}

async function consume(bootstrap: string, topic: string, count: number): Promise<SampleRecord[]> {
  const consumer = new Consumer({ clientId: 'platformatic', groupId: 'unused', bootstrapBrokers: [bootstrap] });
  try {
    const metadata = await consumer.metadata({ topics: [topic] });
    const found = metadata.topics.get(topic);
    const leader = found?.partitions[0]?.leader;
    assert.ok(found !== undefined && leader !== undefined);
    const records: SampleRecord[] = [];
    let fetchOffset = 0n;
    while (records.length < count) {
      const partition = { partition: 0, currentLeaderEpoch: -1, fetchOffset, lastFetchedEpoch: -1, partitionMaxBytes: 64 * 1024 };
      const response = await consumer.fetch({
        node: leader,
        topics: [{ topicId: found.id, partitions: [partition] }],
        minBytes: 1,
        maxWaitTime: 2000,
      });
      for (const batch of response.responses[0]?.partitions[0]?.records ?? []) {
        for (const record of batch.records) {
          const offset = batch.firstOffset + BigInt(record.offsetDelta);
          if (offset >= fetchOffset) {
            const headers = record.headers.map(([name, value]) => [String(name), value ?? Buffer.alloc(0)] as const);
            records.push({ key: record.key, value: record.value, headers });
            fetchOffset = offset + 1n;
          }
        }
      }
    }
    return records;
  } finally {
    await consumer.close(true);
  }
}

roundTripTests({ name: '@platformatic/kafka', tools: [], codecs: allCodecs, canSend, produce, consume });
