import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { goldenDirectory } from '@odradek/testing';
import { coordinatorPartition, javaHashCode } from './coordinator-partition.ts';

const golden = goldenDirectory();

test('finds the partition of an id as Kafka does', { skip: golden === undefined ? 'no golden facts' : false }, () => {
  const lines = readFileSync(join(golden ?? '', 'misc/coordinator-partition.jsonl'), 'utf8')
    .trim()
    .split('\n');
  let checked = 0;
  for (const line of lines) {
    const fact = JSON.parse(line) as { id?: string; javaHash: number; partition: Record<string, number> };
    if (fact.id === undefined) continue;
    assert.equal(javaHashCode(fact.id), fact.javaHash, `hash of "${fact.id}"`);
    for (const [count, partition] of Object.entries(fact.partition)) {
      assert.equal(coordinatorPartition(fact.id, Number(count)), partition, `partition of "${fact.id}" among ${count}`);
      checked += 1;
    }
  }
  assert.ok(checked > 0);
});
