// Reads a partition from its earliest offset to its end in plain requests, from whatever broker: every record with its offset and its
// timestamp, and which of them a read_committed consumer would see.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  errorCodes,
  FetchRequest,
  FetchResponse,
  FindCoordinatorRequest,
  FindCoordinatorResponse,
  iterateBatches,
  ListOffsetsRequest,
  ListOffsetsResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { RawClient, until } from '@odradek/testing';

export interface ReadRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: readonly string[];
}

export interface ReadPartition {
  readonly earliestOffset: number;
  readonly endOffset: number;
  readonly records: readonly ReadRecord[];
  /** Offsets of the records that are not of aborted transactions. */
  readonly committed: readonly number[];
}

/** With the partition's last stable offset at its end, or transactions that are open are left out of `committed`. */
export class LogReader {
  readonly #client: RawClient;

  private constructor(client: RawClient) {
    this.#client = client;
  }

  static async connect(port: number): Promise<LogReader> {
    return new LogReader(await RawClient.connect({ port }));
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** -2 is the earliest, -1 the next to be written. Waits until the partition has a leader. */
  offsetFor(topic: string, timestamp: -1 | -2): Promise<number> {
    return until(`${topic} has a leader`, async () => {
      const topics = [{ name: topic, partitions: [{ partitionIndex: 0, timestamp }] }];
      const answer = await this.#client.send(ListOffsetsRequest, ListOffsetsResponse, 4, { replicaId: -1, topics });
      const partition = answer.topics[0]!.partitions[0]!;
      return partition.errorCode === 0 ? { offset: partition.offset } : undefined;
    }).then(({ offset }) => offset);
  }

  async read(topic: string): Promise<ReadPartition> {
    const [earliestOffset, endOffset] = [await this.offsetFor(topic, -2), await this.offsetFor(topic, -1)];
    const records = await this.#records(topic, earliestOffset, 0);
    const committed = await this.#records(topic, earliestOffset, 1);
    return { earliestOffset, endOffset, records, committed: committed.map(({ offset }) => offset) };
  }

  async #records(topic: string, from: number, isolationLevel: 0 | 1): Promise<ReadRecord[]> {
    const records: ReadRecord[] = [];
    const aborted = new Map<number, Set<number>>();
    for (let offset = from; ; ) {
      const partitions = [{ partition: 0, fetchOffset: offset, partitionMaxBytes: 5000 }];
      const request = { maxWaitMs: 0, minBytes: 0, isolationLevel, sessionEpoch: -1, topics: [{ topic, partitions }] };
      const answer = await until(`${topic} is served`, async () => {
        const { responses } = await this.#client.send(FetchRequest, FetchResponse, 11, request);
        const partition = responses[0]!.partitions[0]!;
        // A broker that has just been started may not know its topics yet.
        return partition.errorCode === errorCodes.UNKNOWN_TOPIC_OR_PARTITION ? undefined : partition;
      });
      assert.equal(answer.errorCode, 0, `fetch of ${topic} at ${offset}`);
      const batches = [...iterateBatches(answer.records ?? Buffer.alloc(0))].filter((batch) => batch.nextOffset > offset);
      if (batches.length === 0) return records;
      for (const { producerId, firstOffset } of answer.abortedTransactions ?? []) {
        aborted.set(producerId, (aborted.get(producerId) ?? new Set()).add(firstOffset));
      }
      for (const batch of batches) {
        batch.ensureValid();
        offset = batch.nextOffset;
        const open = [...(aborted.get(batch.producerId) ?? [])].find((first) => first <= batch.lastOffset);
        // The marker ends the transaction, whichever way; only aborted ones are in the list.
        if (batch.isControl && open !== undefined) aborted.get(batch.producerId)?.delete(open);
        if (batch.isControl || (open !== undefined && batch.isTransactional)) continue;
        for (const { offset: at, timestamp, key, value, headers } of batch.records()) {
          if (at < from) continue;
          records.push({
            offset: at,
            timestamp,
            key: key?.toString('latin1') ?? null,
            value: shownValue(value),
            headers: headers.map((header) => `${header.key}=${header.value?.toString('latin1')}`),
          });
        }
      }
    }
  }

  /** Appends batches, one request each, and waits for each to be acknowledged. */
  async produce(topic: string, batches: readonly Buffer[]): Promise<void> {
    for (const records of batches) {
      const topicData = [{ name: topic, partitionData: [{ index: 0, records }] }];
      const request = { acks: -1, timeoutMs: 10_000, topicData };
      const { responses } = await this.#client.send(ProduceRequest, ProduceResponse, 7, request);
      assert.equal(responses[0]?.partitionResponses[0]?.errorCode, 0, `produce to ${topic}`);
    }
  }

  /** For a group without members. Waits until its coordinator is ready. */
  async commit(groupId: string, topic: string, committedOffset: number): Promise<void> {
    await until('there is a coordinator', async () => {
      const request = { key: groupId, keyType: 0 };
      const answer = await this.#client.send(FindCoordinatorRequest, FindCoordinatorResponse, 2, request);
      return answer.errorCode === 0;
    });
    await until('the offset is committed', async () => {
      const partitions = [{ partitionIndex: 0, committedOffset, committedLeaderEpoch: -1, committedMetadata: 'm' }];
      const request = { groupId, generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name: topic, partitions }] };
      const answer = await this.#client.send(OffsetCommitRequest, OffsetCommitResponse, 7, request);
      return answer.topics[0]?.partitions[0]?.errorCode === 0;
    });
  }

  committed(groupId: string, topic: string): Promise<number> {
    return until('the offsets are loaded', async () => {
      const request = { groupId, topics: [{ name: topic, partitionIndexes: [0] }] };
      const { errorCode, topics } = await this.#client.send(OffsetFetchRequest, OffsetFetchResponse, 7, request);
      return errorCode === 0 ? { offset: topics[0]?.partitions[0]?.committedOffset ?? -1 } : undefined;
    }).then(({ offset }) => offset);
  }
}

/** What is long is told by its hash, so that a difference can be read. */
export function shownValue(value: Buffer | null): string | null {
  if (value === null || value.length < 1000) return value?.toString('latin1') ?? null;
  return `${value.length} bytes with the hash ${hash('sha1', value)}`;
}
