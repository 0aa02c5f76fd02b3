// What a compiled codec costs against one written by hand: Fetch 12, ten partitions in one topic, request and response, and Produce 9.
// The rounds are interleaved, and the best of each counts, because a busy machine can only make them slower.
//
//   node --conditions=odradek-source bench/codec.ts

import {
  codecFor,
  encodeToBuffer,
  FetchRequest,
  FetchResponse,
  type Message,
  type MessageInit,
  ProduceRequest,
  Reader,
  Writer,
  zeroUuid,
} from '@odradek/protocol';

const rounds = 12;
const messagesPerRound = 20_000;
const partitionCount = 10;

const partitions = Array.from({ length: partitionCount }, (_, index) => index);
const fetchRequest: MessageInit<typeof FetchRequest> = {
  replicaId: -1,
  maxWaitMs: 500,
  minBytes: 1,
  maxBytes: 52_428_800,
  sessionId: 123_456_789,
  sessionEpoch: 7,
  topics: [
    {
      topic: 'page-views',
      partitions: partitions.map((partition) => ({
        partition,
        currentLeaderEpoch: 5,
        fetchOffset: 5_000_000_000 + partition,
        lastFetchedEpoch: -1,
        logStartOffset: -1,
        partitionMaxBytes: 1_048_576,
      })),
    },
  ],
};
const records = Buffer.alloc(16_384);
const fetchResponse: MessageInit<typeof FetchResponse> = {
  sessionId: 123_456_789,
  responses: [
    {
      topic: 'page-views',
      partitions: partitions.map((partitionIndex) => ({
        partitionIndex,
        highWatermark: 5_000_000_100,
        lastStableOffset: 5_000_000_100,
        logStartOffset: 4_000_000_000,
        abortedTransactions: null,
        records,
      })),
    },
  ],
};
const produceRequest: MessageInit<typeof ProduceRequest> = {
  transactionalId: null,
  acks: -1,
  timeoutMs: 30_000,
  topicData: [{ name: 'page-views', partitionData: partitions.map((index) => ({ index, records: records.subarray(0, 100) })) }],
};

const fetchRequestBytes = encodeToBuffer(FetchRequest, 12, fetchRequest);
const produceRequestBytes = encodeToBuffer(ProduceRequest, 9, produceRequest);
const fetchRequestCodec = codecFor(FetchRequest, 12);
const fetchResponseCodec = codecFor(FetchResponse, 12);
const produceRequestCodec = codecFor(ProduceRequest, 9);
const writer = new Writer();

const contestants: readonly { readonly name: string; readonly run: () => number; best: number }[] = [
  {
    name: 'read Fetch request, compiled',
    run: () => fetchRequestCodec.read(new Reader(fetchRequestBytes)).topics.length,
    best: Infinity,
  },
  {
    name: 'read Fetch request, by hand',
    run: () => readFetchRequestByHand(new Reader(fetchRequestBytes)).topics.length,
    best: Infinity,
  },
  {
    name: 'write Fetch response, compiled',
    run: () => {
      fetchResponseCodec.write(writer, fetchResponse);
      return writer.chunks().length;
    },
    best: Infinity,
  },
  {
    name: 'write Fetch response, by hand',
    run: () => {
      writeFetchResponseByHand(writer, fetchResponse);
      return writer.chunks().length;
    },
    best: Infinity,
  },
  {
    name: 'read Produce request, compiled',
    run: () => produceRequestCodec.read(new Reader(produceRequestBytes)).topicData.length,
    best: Infinity,
  },
  {
    name: 'write Fetch request, compiled',
    run: () => {
      fetchRequestCodec.write(writer, fetchRequest);
      return writer.chunks().length;
    },
    best: Infinity,
  },
];

for (let round = 0; round < rounds; round++) {
  for (const contestant of contestants) {
    const startedAt = process.hrtime.bigint();
    let sum = 0;
    for (let index = 0; index < messagesPerRound; index++) sum += contestant.run();
    const elapsedNs = Number(process.hrtime.bigint() - startedAt);
    if (sum === 0) throw new Error('Nothing was done');
    contestant.best = Math.min(contestant.best, elapsedNs / messagesPerRound);
  }
}

console.log(`${partitionCount} partitions, Node ${process.version}`);
for (const { name, best } of contestants) console.log(`${name.padEnd(34)} ${(best / 1000).toFixed(2)} µs`);

/** Reads what it must and no more, as one would write it for this one version. */
function readFetchRequestByHand(reader: Reader): Message<typeof FetchRequest> {
  const replicaId = reader.int32();
  const maxWaitMs = reader.int32();
  const minBytes = reader.int32();
  const maxBytes = reader.int32();
  const isolationLevel = reader.int8();
  const sessionId = reader.int32();
  const sessionEpoch = reader.int32();
  const topics: Message<typeof FetchRequest>['topics'][number][] = [];
  for (let left = reader.compactLength(); left > 0; left--) {
    const topic = reader.string(reader.compactLength(), 'topic');
    const wanted: Message<typeof FetchRequest>['topics'][number]['partitions'][number][] = [];
    for (let count = reader.compactLength(); count > 0; count--) {
      const partition = reader.int32();
      const currentLeaderEpoch = reader.int32();
      const fetchOffset = reader.int64();
      const lastFetchedEpoch = reader.int32();
      const logStartOffset = reader.int64();
      const partitionMaxBytes = reader.int32();
      reader.skipTaggedFields();
      wanted.push({
        partition,
        currentLeaderEpoch,
        fetchOffset,
        lastFetchedEpoch,
        logStartOffset,
        partitionMaxBytes,
        replicaDirectoryId: zeroUuid,
        highWatermark: Number.MAX_SAFE_INTEGER,
      });
    }
    reader.skipTaggedFields();
    topics.push({ topic, topicId: zeroUuid, partitions: wanted });
  }
  const forgottenTopicsData: Message<typeof FetchRequest>['forgottenTopicsData'][number][] = [];
  if (reader.compactLength() > 0) throw new Error('Not in this benchmark');
  const rackId = reader.string(reader.compactLength(), 'rackId');
  reader.skipTaggedFields();
  const replicaState = { replicaId: -1, replicaEpoch: -1 };
  return {
    clusterId: null,
    replicaId,
    replicaState,
    maxWaitMs,
    minBytes,
    maxBytes,
    isolationLevel,
    sessionId,
    sessionEpoch,
    topics,
    forgottenTopicsData,
    rackId,
  };
}

function writeFetchResponseByHand(to: Writer, response: MessageInit<typeof FetchResponse>): void {
  to.int32(response.throttleTimeMs ?? 0);
  to.int16(response.errorCode ?? 0);
  to.int32(response.sessionId ?? 0);
  const topics = response.responses ?? [];
  to.unsignedVarint(topics.length + 1);
  for (const topic of topics) {
    to.compactString(topic.topic ?? '');
    const parts = topic.partitions ?? [];
    to.unsignedVarint(parts.length + 1);
    for (const partition of parts) {
      to.int32(partition.partitionIndex ?? 0);
      to.int16(partition.errorCode ?? 0);
      to.int64(partition.highWatermark ?? 0);
      to.int64(partition.lastStableOffset ?? -1);
      to.int64(partition.logStartOffset ?? -1);
      const aborted = partition.abortedTransactions;
      if (aborted === null || aborted === undefined) to.unsignedVarint(0);
      else throw new Error('Not in this benchmark');
      to.int32(partition.preferredReadReplica ?? -1);
      const bytes = partition.records;
      if (bytes === null || bytes === undefined) to.unsignedVarint(0);
      else to.compactRecords(bytes);
      to.unsignedVarint(0);
    }
    to.unsignedVarint(0);
  }
  to.unsignedVarint(0);
}
