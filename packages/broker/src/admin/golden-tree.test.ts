// What we write into the tree is, node by node, what Apache Kafka 3.9 wrote for the same requests: paths, data, versions,
// counts of changes. Ids, times and ports are masked, and of others' work (access lists, quotas) nothing is compared.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Coordination } from '@odradek/coordination';
import { zeroUuid } from '@odradek/protocol';
import { createLogger } from '@odradek/runtime';
import { goldenDirectory } from '@odradek/testing';
import { ConfigChanges, configOperations, configResourceTypes } from './config-changes.ts';
import { createGoldenTopics, growGoldenTopic, startGoldenCluster } from './golden-cluster.fixture.ts';
import { startOneBroker } from './one-broker.fixture.ts';

interface Znode {
  readonly path: string;
  readonly data: string | null;
  readonly ephemeral: boolean;
  readonly version: number;
  readonly cversion: number;
  readonly children: number;
}

const directory = goldenDirectory();

/** Ours alone, or not written by what this test does. */
const left =
  /^\/(zookeeper|kafka-acl|delegation_token)|^\/config\/(groups|client-metrics|other_changes|users|clients|ips)\/?|^\/(config)?$/;

function golden(moment: string, only: (path: string) => boolean = () => true): string[] {
  const text = readFileSync(join(directory ?? '', 'zookeeper', `${moment}.json`), 'utf8');
  return (JSON.parse(text) as { znodes: Znode[] }).znodes.filter(({ path }) => !left.test(path) && only(path)).map(line);
}

function line({ path, data, ephemeral, version, cversion, children }: Znode): string {
  const masked = data
    ?.replace(/"timestamp":"\d+"/, '"timestamp":"…"')
    .replace(/:\d{4,5}"/, ':PORT"')
    .replace(/"port":\d+/, '"port":PORT')
    .replace(/"topic_id":"[\w-]{22}"/, '"topic_id":"…"')
    .replace(/"id":"[\w-]{22}"/, '"id":"…"');
  return `${path} ${masked ?? null}${ephemeral ? ' ephemeral' : ''} version ${version} cversion ${cversion} children ${children}`;
}

async function ours(coordination: Coordination, only: (path: string) => boolean = () => true, path = '/'): Promise<string[]> {
  const { data, stat } = await coordination.get(path);
  const { names } = await coordination.children(path);
  const below = await Promise.all(
    names.sort().map((name) => ours(coordination, only, path === '/' ? `/${name}` : `${path}/${name}`)),
  );
  const { version, cversion, numChildren } = stat;
  const node = {
    path,
    data: data?.toString() ?? null,
    ephemeral: stat.ephemeralOwner !== 0n,
    version,
    cversion,
    children: numChildren,
  };
  return [...(left.test(path) || !only(path) ? [] : [line(node)]), ...below.flat()];
}

function assertSameNodes(actual: readonly string[], expected: readonly string[]): void {
  assert.deepEqual([...actual].sort(), [...expected].sort());
}

describe('the tree that we write', () => {
  it('is what Kafka writes for the same requests', { skip: directory === undefined && 'no golden facts' }, async () => {
    const first = await startOneBroker({ rack: 'rack-0' });
    assertSameNodes(await ours(first.coordination), golden('02-after-first-broker'));
    await first.close();

    const { coordination, metadataCache, topicChanges, configChanges, close } = await startGoldenCluster();
    assertSameNodes(await ours(coordination), golden('03-after-start'));

    await createGoldenTopics(topicChanges);
    const exceptConfigs = (path: string): boolean => path !== '/config/topics/t-manual';
    assertSameNodes(await ours(coordination, exceptConfigs), golden('04-after-topic-create', exceptConfigs));

    await growGoldenTopic(topicChanges);
    assertSameNodes(await ours(coordination, exceptConfigs), golden('05-after-add-partitions', exceptConfigs));

    const rules = { rule: () => undefined, validate: () => undefined };
    const logger = createLogger({ level: 'fatal' });
    const ofBroker1 = await ConfigChanges.start({ coordination, metadataCache, rules, brokerId: 1, logger });
    const { TOPIC, BROKER } = configResourceTypes;
    const alter = (resourceType: number, resourceName: string, configs: Record<string, string>) =>
      ofBroker1.incrementalAlter(
        [
          {
            resourceType,
            resourceName,
            configs: Object.entries(configs).map(([name, value]) => ({ name, value, configOperation: configOperations.SET })),
          },
        ],
        { validateOnly: false },
      );
    await alter(TOPIC, 't-rf3', { 'retention.ms': '118767', 'max.message.bytes': '2000000' });
    await alter(BROKER, '1', { 'log.cleaner.threads': '1', 'message.max.bytes': '1500000' });
    await alter(BROKER, '', { 'log.retention.ms': '86400000' });
    const changed = (path: string): boolean =>
      /^\/config\/(topics\/t-rf3|brokers|brokers\/.*|changes\/config_change_000000000[012])$/.test(path);
    assertSameNodes(await ours(coordination, changed), golden('06-after-configs', changed));

    await topicChanges.deleteTopics([{ name: 't-rf3', topicId: zeroUuid }], { timeoutMs: 10_000 });
    const ofTopic = (path: string): boolean => path.includes('t-rf3') || path === '/admin/delete_topics';
    assertSameNodes(
      (await ours(coordination, ofTopic)).filter((text) => !text.startsWith('/admin/delete_topics ')),
      golden('15-after-delete-topic', ofTopic).filter((text) => !text.startsWith('/admin/delete_topics ')),
    );
    ofBroker1.close();
    configChanges.close();
    await close();
  });
});
