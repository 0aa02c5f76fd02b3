// What a partition holds, read from its beginning, and whether that is what its writers were promised.

import assert from 'node:assert/strict';
import { FetchRequest, FetchResponse, iterateBatches, ListOffsetsRequest, ListOffsetsResponse } from '@odradek/protocol';
import { RawClient, until } from '@odradek/testing';
import type { AcknowledgedWriter } from './acknowledged-writer.ts';

/** The values of all records of a partition, their padding taken away; offsets are checked to follow one another. */
export async function readPartition(port: number, topic: string, partition: number): Promise<string[]> {
  await using client = await RawClient.connect({ port });
  const end = await until('the partition has a leader', async () => {
    const topics = [{ name: topic, partitions: [{ partitionIndex: partition, timestamp: -1 }] }];
    const answer = await client.send(ListOffsetsRequest, ListOffsetsResponse, 7, { replicaId: -1, topics });
    const found = answer.topics[0]?.partitions[0];
    return found?.errorCode === 0 && found;
  });
  const values: string[] = [];
  while (values.length < end.offset) {
    const wanted = [{ partition, fetchOffset: values.length, partitionMaxBytes: 4 * 1024 * 1024 }];
    const request = { maxWaitMs: 1000, minBytes: 1, topics: [{ topic, partitions: wanted }] };
    const { responses } = await client.send(FetchRequest, FetchResponse, 12, request);
    const fetched = responses[0]?.partitions[0];
    assert.equal(fetched?.errorCode, 0);
    const before = values.length;
    for (const batch of iterateBatches(fetched.records ?? Buffer.alloc(0))) {
      assert.ok(batch.isCrcValid(), `the batch at ${batch.baseOffset} is damaged`);
      for (const record of batch.records()) {
        if (record.offset < values.length) continue;
        assert.equal(record.offset, values.length, 'no offset is missing');
        values.push(record.value?.toString().trimEnd() ?? '');
      }
    }
    assert.ok(values.length > before, `nothing at offset ${before} of ${end.offset}`);
  }
  return values;
}

/** Every acknowledged record is there once and in order; beside them only records in doubt, each at most once. */
export function assertKept(values: readonly string[], writer: AcknowledgedWriter): void {
  const own = values.filter((value) => value.startsWith(`${writer.name}:`));
  assert.equal(new Set(own).size, own.length, `${writer.name}: no record is there twice`);
  const acknowledged = new Set(writer.acknowledged);
  const kept = own.filter((value) => acknowledged.has(value));
  assert.deepEqual(kept, writer.acknowledged, `${writer.name}: every acknowledged record is there, in order`);
  const unexpected = own.filter((value) => !acknowledged.has(value) && !writer.inDoubt.has(value));
  assert.deepEqual(unexpected, [], `${writer.name}: nothing that was never sent`);
  const numbers = own.map((value) => Number(value.slice(writer.name.length + 1)));
  assert.ok(
    numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0)),
    `${writer.name}: in the order in which it was sent`,
  );
  if (writer.isIdempotent) assert.equal(kept.length, own.length);
}
