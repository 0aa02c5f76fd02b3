// Folders of logs as Odradek writes them, for Apache Kafka's tools to look at: many segments and epochs, all codecs, transactions,
// timestamps of the broker.

import { buildControlBatch, buildRecordBatch, compressionTypes } from '@odradek/protocol';
import { createSystemWorld, type World } from '@odradek/runtime';
import { defaultLogConfig, type LogConfig, LogManager, type PartitionLog } from '@odradek/storage';

export const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';

/** What Kafka is told too, where it matters for what it finds. */
const small: LogConfig = { ...defaultLogConfig, segmentBytes: 5000, indexIntervalBytes: 200, segmentIndexBytes: 1000 };

const configs: Readonly<Record<string, LogConfig>> = {
  'many-segments': small,
  codecs: { ...small, segmentBytes: 100_000 },
  transactions: { ...small, segmentBytes: 2500 },
  'append-time': { ...small, messageTimestampType: 'LogAppendTime' },
  'deleted-records': small,
};

export const writtenTopics = Object.keys(configs);

/** Calls `use` with the logs open; they are closed in order afterwards. */
export async function withLogs(directory: string, use: (logOf: (topic: string) => PartitionLog) => Promise<void>): Promise<void> {
  const world: World = createSystemWorld({ log: { write: () => undefined } });
  const manager = LogManager.open({ world, directories: [directory], topicLogConfig: (topic) => configs[topic] ?? small });
  try {
    manager.claim(1, 'S2Fma2FHb2xkZW5GYWN0cw');
    await manager.load();
    await use((topic) => manager.getOrCreate({ topic, partition: 0 }, { topicId, config: configs[topic] ?? small }));
  } finally {
    await manager.close();
    world.timer.close();
  }
}

/** Lately, or Kafka would have forgotten the producers. */
const firstTimestamp = Date.now() - 3_600_000;

/** Fills all logs. What is written now and then is handed to the disk in pieces, as it would be by turns of the event loop. */
export async function fillLogs(logOf: (topic: string) => PartitionLog): Promise<void> {
  await fillSegments(logOf('many-segments'));
  await fillSegments(logOf('append-time'));
  await fillSegments(logOf('deleted-records'));
  await fillCodecs(logOf('codecs'));
  await fillTransactions(logOf('transactions'));
  const log = logOf('deleted-records');
  log.updateHighWatermark(log.logEndOffset);
  log.deleteRecordsBefore(151);
}

function records(count: number, from: number, bytes = 60): { timestamp: number; key: Buffer; value: Buffer }[] {
  return Array.from({ length: count }, (_, index) => ({
    // Not in order: an index must cope with that.
    timestamp: firstTimestamp + ((from + index) % 7) * 1000 + from,
    key: Buffer.from(`key ${(from + index) % 50}`),
    value: Buffer.alloc(bytes, `value ${from + index} `),
  }));
}

async function fillSegments(log: PartitionLog): Promise<void> {
  let baseSequence = 0;
  for (let leaderEpoch = 0; leaderEpoch < 6; leaderEpoch += 2) {
    log.assignLeaderEpoch(leaderEpoch, log.logEndOffset);
    for (let batch = 0; batch < 60; batch++) {
      const count = 1 + (batch % 4);
      const sent = records(count, log.logEndOffset);
      const producer = { producerId: 1000, producerEpoch: 0, baseSequence };
      const { written } = log.appendAsLeader(buildRecordBatch(producer, sent), { leaderEpoch, origin: 'client' });
      baseSequence += count;
      if (batch % 3 === 0) await written;
    }
  }
}

async function fillCodecs(log: PartitionLog): Promise<void> {
  for (const compression of compressionTypes) {
    for (let batch = 0; batch < 10; batch++) {
      const sent = records(40, log.logEndOffset, 200);
      await log.appendAsLeader(buildRecordBatch({ compression }, sent), { leaderEpoch: 3, origin: 'client' }).written;
    }
  }
}

/** Three producers at once; every third transaction is aborted, and one is left open. */
async function fillTransactions(log: PartitionLog): Promise<void> {
  const leaderEpoch = 7;
  const sequences = new Map([11, 12, 13].map((producerId) => [producerId, 0]));
  const open = new Set<number>();
  for (let step = 0; step < 120; step++) {
    const producerId = 11 + (step % 3);
    const producer = { producerId, producerEpoch: 2 };
    if (open.has(producerId) && step % 4 === 0) {
      const type = step % 3 === 0 ? 'abort' : 'commit';
      const marker = buildControlBatch({ ...producer, type, coordinatorEpoch: 5, timestamp: firstTimestamp + step });
      await log.appendAsLeader(marker, { leaderEpoch, origin: 'coordinator' }).written;
      open.delete(producerId);
      continue;
    }
    const baseSequence = sequences.get(producerId)!;
    const sent = records(2, log.logEndOffset);
    const batch = buildRecordBatch({ ...producer, baseSequence, isTransactional: true }, sent);
    await log.appendAsLeader(batch, { leaderEpoch, origin: 'client' }).written;
    sequences.set(producerId, baseSequence + 2);
    open.add(producerId);
  }
}
