// Loads folders of `__consumer_offsets` that Apache Kafka wrote, and finds the groups and offsets that Kafka's own dump-log
// tells of. What the records should come to is worked out from the dump in the plainest way.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createLogger, createSystemWorld } from '@odradek/runtime';
import { defaultLogConfig, LogManager } from '@odradek/storage';
import { goldenDirectory } from '@odradek/testing';
import { replayLog } from '../coordinator/coordinator-loader.ts';
import { CoordinatorTimer } from '../coordinator/coordinator-timer.ts';
import { MetadataCache } from '../metadata/metadata-cache.ts';
import { decodeGroupRecord, encodeGroupRecord } from './group-records.ts';
import type { GroupSettings } from './group-settings.ts';
import { GroupShard } from './group-shard.ts';

const golden = goldenDirectory();

interface DumpedBatch {
  readonly producerId: number;
  readonly isTransactional: boolean;
  readonly records?: readonly { readonly key?: string; readonly payload?: string; readonly endTxnMarker?: string }[];
}

interface Dumped {
  /** `group topic-partition` → `offset metadata`. */
  readonly offsets: Map<string, string>;
  /** Classic groups: `generation N of type`; consumer groups: `epoch N`. */
  readonly groups: Map<string, string>;
}

function replayDump(name: string): Dumped {
  const facts = JSON.parse(gunzipSync(readFileSync(join(golden ?? '', `log/${name}.json.gz`))).toString()) as {
    readonly dump: readonly { readonly file: string; readonly entries: readonly DumpedBatch[] }[];
  };
  const offsets = new Map<string, string>();
  const groups = new Map<string, string>();
  const logs = facts.dump.filter(({ file }) => /^__consumer_offsets-\d+\/\d+\.log$/.test(file));
  for (const { entries } of logs.sort((a, b) => (a.file < b.file ? -1 : 1))) {
    const pending = new Map<number, [string, string][]>();
    for (const { producerId, isTransactional, records = [] } of entries) {
      for (const { key, payload, endTxnMarker } of records) {
        if (endTxnMarker !== undefined) {
          if (endTxnMarker === 'COMMIT') for (const [name_, value] of pending.get(producerId) ?? []) offsets.set(name_, value);
          pending.delete(producerId);
          continue;
        }
        const { type, data } = JSON.parse(key ?? '') as { type: string; data: Record<string, string> };
        const value =
          payload === undefined || payload === '<DELETE>' ? null : (JSON.parse(payload) as { data: Record<string, unknown> }).data;
        if (type === '1') {
          const about = `${data['group']} ${data['topic']}-${data['partition']}`;
          const said = value === null ? '' : `${value['offset']} ${value['metadata']}`;
          if (value === null) offsets.delete(about);
          else if (isTransactional) pending.set(producerId, [...(pending.get(producerId) ?? []), [about, said]]);
          else offsets.set(about, said);
        } else if (type === '2') {
          const groupId = data['group'] ?? '';
          if (value === null) groups.delete(groupId);
          else groups.set(groupId, `generation ${value['generation']} of ${value['protocolType'] || 'nobody'}`);
        } else if (type === '3') {
          const groupId = data['groupId'] ?? '';
          if (value === null) groups.delete(groupId);
          else groups.set(groupId, `epoch ${value['epoch']}`);
        }
      }
    }
  }
  return { offsets, groups };
}

async function loadFolders(name: string): Promise<{ readonly shards: GroupShard[]; readonly records: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'odradek-golden-groups-'));
  const world = { ...createSystemWorld(), logger: createLogger({ level: 'fatal' }) };
  try {
    execFileSync('tar', ['-xzf', join(golden ?? '', `log/${name}.tar.gz`), '-C', directory]);
    for (const entry of readdirSync(directory)) {
      if (!entry.startsWith('__consumer_offsets')) rmSync(join(directory, entry), { recursive: true });
    }
    const manager = LogManager.open({ world, directories: [directory], topicLogConfig: () => defaultLogConfig });
    await manager.load();
    const shards: GroupShard[] = [];
    let records = 0;
    for (const entry of readdirSync(directory).filter((each) => each.startsWith('__consumer_offsets'))) {
      const log = manager.get({ topic: '__consumer_offsets', partition: Number(entry.split('-')[1]) });
      assert.ok(log !== undefined, entry);
      const shard = newShard(world);
      const target = {
        isWanted: () => true,
        record: (...args: Parameters<GroupShard['replay']>) => {
          assertWritesTheSame(args[0]);
          shard.replay(...args);
        },
        endTransaction: (producerId: number, isCommitted: boolean) => shard.endTransaction(producerId, isCommitted),
      };
      // Small pieces, so that there are several.
      const loaded = await replayLog({ log }, target, {
        readBytes: 200,
        mustGiveWay: () => false,
        giveWay: () => new Promise((resolve) => setImmediate(resolve)),
      });
      records += loaded.recordCount;
      shards.push(shard);
    }
    await manager.close();
    return { shards, records };
  } finally {
    world.timer.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What we make of a record, in the version that Kafka wrote, is what Kafka wrote. */
function assertWritesTheSame(record: Parameters<GroupShard['replay']>[0]): void {
  const decoded = decodeGroupRecord(record);
  assert.ok(decoded !== null);
  const written = encodeGroupRecord(decoded.kind, decoded.key, decoded.value, record.value?.readInt16BE(0));
  assert.deepEqual(written.key, Buffer.from(record.key));
  // A hash of 64 bits is more than a number holds; it is only ever compared.
  if (decoded.kind !== 'consumerGroupMetadata')
    assert.deepEqual(written.value, record.value === null ? null : Buffer.from(record.value));
}

function newShard(world: ReturnType<typeof createSystemWorld>): GroupShard {
  const cache = new MetadataCache('cluster');
  return new GroupShard({
    clock: world.clock,
    timer: new CoordinatorTimer(world.timer, world.clock, () => Promise.resolve(true)),
    logger: world.logger,
    settings: {} as GroupSettings,
    metadata: () => cache.current,
    topicsVersion: () => 0,
    assignors: new Map(),
    uuid: () => '',
    shortUuid: () => '',
  });
}

describe('a __consumer_offsets folder', { skip: golden === undefined ? 'no golden facts' : false }, () => {
  for (const name of ['kafka-3.9-zk-clean', 'kafka-4.4-kraft-clean']) {
    test(`of ${name} holds the groups and offsets that Kafka's dump-log tells of`, async () => {
      const expected = replayDump(name);
      const { shards, records } = await loadFolders(name);
      const offsets = new Map<string, string>();
      const groups = new Map<string, string>();
      for (const shard of shards) {
        for (const [groupId, group] of shard.groups) {
          if (group.type === 'consumer') groups.set(groupId, `epoch ${group.groupEpoch}`);
          else if (group.generationId > 0)
            groups.set(groupId, `generation ${group.generationId} of ${group.protocolType ?? 'nobody'}`);
          for (const [topic, partitions] of shard.offsets.topics(groupId)) {
            for (const [partition, { offset, metadata }] of partitions) {
              offsets.set(`${groupId} ${topic}-${partition}`, `${offset} ${metadata}`);
            }
          }
        }
      }
      assert.ok(records > 0 && offsets.size > 0);
      assert.deepEqual([...offsets].sort(), [...expected.offsets].sort());
      assert.deepEqual([...groups].sort(), [...expected.groups].sort());
    });
  }
});
