// kafkajs. Its consumer always joins a group, so records are read through the broker object beneath the consumer, which
// sends the same Fetch requests. Snappy, LZ4 and zstd are plug-ins there, and ours are what we plug in.

import assert from 'node:assert/strict';
import { type CompressionType, compress, decompress } from '@odradek/protocol';
import kafkajs, { type Kafka as KafkaJs, type CompressionTypes as KafkaJsCompression } from 'kafkajs';
import { allCodecs, type Codec, roundTripTests, type SampleRecord } from './round-trip.ts';

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs;

const types: Readonly<Record<Codec, KafkaJsCompression>> = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
};

function plugIn(codec: CompressionType): void {
  // Its type names only the codecs; None has none.
  (CompressionCodecs as Record<KafkaJsCompression, unknown>)[types[codec]] = () => ({
    compress: async (encoder: { readonly buffer: Buffer }) => compress(codec, encoder.buffer),
    decompress: async (bytes: Buffer) => decompress(codec, bytes),
  });
}

for (const codec of ['snappy', 'lz4', 'zstd'] as const) {
  plugIn(codec);
}

// The parts of kafkajs beneath its public face that this test uses.
interface FetchedMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | Buffer[]>>;
}
interface InnerBroker {
  fetch(options: object): Promise<{ responses: { partitions: { errorCode: number; messages: FetchedMessage[] }[] }[] }>;
}
interface InnerCluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>;
  findBroker(options: { nodeId: string }): Promise<InnerBroker>;
}

function newKafka(bootstrap: string): KafkaJs {
  return new Kafka({ clientId: 'kafkajs', brokers: [bootstrap], logLevel: logLevel.NOTHING });
}

function innerCluster(kafka: KafkaJs): InnerCluster {
  const createCluster = Object.getOwnPropertySymbols(kafka).find((symbol) => symbol.description === 'private:Kafka:createCluster');
  assert.ok(createCluster !== undefined);
  return (kafka as unknown as Record<symbol, (options: object) => InnerCluster>)[createCluster]?.({
    metadataMaxAge: 300_000,
    isolationLevel: 1,
  }) as InnerCluster;
}

async function produce(bootstrap: string, topic: string, codec: Codec, records: readonly SampleRecord[]): Promise<void> {
  const producer = newKafka(bootstrap).producer({ allowAutoTopicCreation: true });
  await producer.connect();
  try {
    const half = Math.ceil(records.length / 2);
    for (const part of [records.slice(0, half), records.slice(half)]) {
      await producer.send({
        topic,
        acks: -1,
        compression: types[codec],
        messages: part.map(({ key, value, headers }) => {
          const byName: Record<string, Buffer[]> = {};
          for (const [name, bytes] of headers) {
            byName[name] = [...(byName[name] ?? []), bytes];
          }
          return { partition: 0, key, value, headers: byName };
        }),
      });
    }
  } finally {
    await producer.disconnect();
  }
}

async function consume(bootstrap: string, topic: string, count: number): Promise<SampleRecord[]> {
  const kafka = newKafka(bootstrap);
  const cluster = innerCluster(kafka);
  await cluster.connect();
  try {
    await cluster.addTargetTopic(topic);
    const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [0]));
    assert.ok(nodeId !== undefined);
    const broker = await cluster.findBroker({ nodeId });
    const records: SampleRecord[] = [];
    let next = 0;
    while (records.length < count) {
      const partitions = [{ partition: 0, currentLeaderEpoch: -1, fetchOffset: String(next), maxBytes: 64 * 1024 }];
      const { responses } = await broker.fetch({ maxWaitTime: 2000, isolationLevel: 1, topics: [{ topic, partitions }] });
      for (const message of responses[0]?.partitions[0]?.messages ?? []) {
        if (Number(message.offset) >= next) {
          const headers = Object.entries(message.headers).flatMap(([name, value]) =>
            [value].flat().map((bytes) => [name, bytes] as const),
          );
          records.push({ key: message.key, value: message.value, headers });
          next = Number(message.offset) + 1;
        }
      }
    }
    const admin = kafka.admin();
    await admin.connect();
    const [partition] = await admin.fetchTopicOffsets(topic);
    await admin.disconnect();
    assert.deepEqual(partition, { partition: 0, offset: String(next), high: String(next), low: '0' });
    return records;
  } finally {
    await cluster.disconnect();
  }
}

roundTripTests({ name: 'kafkajs', tools: [], codecs: allCodecs, produce, consume });
