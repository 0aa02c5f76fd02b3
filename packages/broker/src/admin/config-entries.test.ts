import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { goldenDirectory } from '@odradek/testing';
import { BrokerConfig } from '../broker-config.ts';
import {
  brokerDefaultEntries,
  brokerEntries,
  type ConfigEntry,
  clientMetricsEntries,
  configSources,
  groupEntries,
  topicEntries,
} from './config-entries.ts';

function configOf(properties: Readonly<Record<string, string>> = {}): BrokerConfig {
  return new BrokerConfig(new Map(Object.entries(properties)));
}

function overrides(configs: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(configs));
}

function find(entries: readonly ConfigEntry[], name: string): ConfigEntry {
  const entry = entries.find((each) => each.name === name);
  assert.ok(entry, `${name} is not there`);
  return entry;
}

function lines(file: string): unknown[] {
  return gunzipSync(readFileSync(file))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

/** What kafka-configs calls the sources. */
const sourceNames: Readonly<Record<number, string>> = {
  [configSources.DYNAMIC_TOPIC_CONFIG]: 'DYNAMIC_TOPIC_CONFIG',
  [configSources.DYNAMIC_BROKER_CONFIG]: 'DYNAMIC_BROKER_CONFIG',
  [configSources.DYNAMIC_DEFAULT_BROKER_CONFIG]: 'DYNAMIC_DEFAULT_BROKER_CONFIG',
  [configSources.STATIC_BROKER_CONFIG]: 'STATIC_BROKER_CONFIG',
  [configSources.DEFAULT_CONFIG]: 'DEFAULT_CONFIG',
  [configSources.GROUP_CONFIG]: 'DYNAMIC_GROUP_CONFIG',
};

/** A configuration as kafka-configs prints it. */
function printed(entries: readonly ConfigEntry[]): string[] {
  return [...entries]
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, value, isSensitive, synonyms }) => {
      const all = synonyms.map((synonym) => `${sourceNames[synonym.source]}:${synonym.name}=${synonym.value}`);
      return `  ${name}=${value} sensitive=${isSensitive} synonyms={${all.join(', ')}}`;
    });
}

interface Transcript {
  readonly tool: string;
  readonly argv: readonly string[];
  readonly stdout: string;
}

function transcript(directory: string, ...argv: readonly string[]): string[] {
  const all = lines(join(directory, 'misc/cli-transcripts.jsonl.gz')) as Transcript[];
  const run = all.find(({ tool, argv: given }) => tool === 'kafka-configs' && argv.join(' ') === given.slice(2).join(' '));
  assert.ok(run, argv.join(' '));
  return run.stdout.split('\n').filter((line) => line.startsWith('  '));
}

test('a topic’s configuration is told as Kafka tells it, to the letter', (t) => {
  const directory = goldenDirectory();
  if (directory === undefined) return t.skip('the golden facts are not here');
  const config = configOf();
  // What 4.4 sets by itself in a new cluster.
  config.setDynamic('dynamicDefault', overrides({ 'min.insync.replicas': '1' }));
  const entries = topicEntries(config, overrides({ 'max.message.bytes': '2000000', 'retention.ms': '3600000' }));
  assert.deepEqual(printed(entries), transcript(directory, '--describe', '--topic', 'pay.ments', '--all'));
});

test('a group’s configuration is told as Kafka tells it', (t) => {
  const directory = goldenDirectory();
  if (directory === undefined) return t.skip('the golden facts are not here');
  const entries = groupEntries(configOf(), overrides({ 'consumer.session.timeout.ms': '50000' }));
  const dynamic = entries.filter(({ configSource }) => configSource === configSources.GROUP_CONFIG);
  assert.deepEqual(printed(dynamic), transcript(directory, '--describe', '--group', 'g-x'));
});

test('a broker’s dynamic configuration is told as Kafka tells it', (t) => {
  const directory = goldenDirectory();
  if (directory === undefined) return t.skip('the golden facts are not here');
  const config = configOf();
  config.setDynamic('dynamicBroker', overrides({ 'log.cleaner.threads': '1' }));
  config.setDynamic('dynamicDefault', overrides({ 'log.retention.ms': '100000000', 'min.insync.replicas': '1' }));
  const own = brokerEntries(config).filter(({ configSource }) => configSource === configSources.DYNAMIC_BROKER_CONFIG);
  assert.deepEqual(printed(own), [
    '  log.cleaner.threads=1 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:log.cleaner.threads=1, DEFAULT_CONFIG:log.cleaner.threads=1}',
  ]);
  assert.deepEqual(printed(brokerDefaultEntries(config)), [
    '  log.retention.ms=100000000 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:log.retention.ms=100000000}',
    '  min.insync.replicas=1 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=1}',
  ]);
});

interface RecordedRequest {
  readonly api: string;
  readonly request: { readonly topics: readonly { readonly configs: readonly { name: string; value: string }[] }[] };
  readonly response: {
    readonly topics: readonly {
      readonly configs: readonly { readonly name: string; readonly value: string; readonly configSource: number }[];
    }[];
  };
}

test('a new topic’s configuration has the values and sources that a Kafka 3.9 broker answered', (t) => {
  const directory = goldenDirectory();
  if (directory === undefined) return t.skip('the golden facts are not here');
  const recorded = (lines(join(directory, 'zookeeper/requests.jsonl.gz')) as RecordedRequest[]).filter(
    ({ api }) => api === 'CREATE_TOPICS',
  );
  assert.equal(recorded.length, 3);
  for (const [index, { request, response }] of recorded.entries()) {
    const config = configOf();
    // The cluster got this default between the second and the third request.
    if (index === 2) config.setDynamic('dynamicDefault', overrides({ 'log.retention.ms': '86400000' }));
    const given = request.topics[0]?.configs.map(({ name, value }) => [name, value] as const) ?? [];
    const entries = topicEntries(config, new Map(given));
    for (const { name, value, configSource } of response.topics[0]?.configs ?? []) {
      // Gone, or with another default, in 4.4.
      if (['message.downconversion.enable', 'message.format.version', 'message.timestamp.difference.max.ms'].includes(name))
        continue;
      if (name === 'message.timestamp.after.max.ms') continue;
      const entry = find(entries, name);
      assert.deepEqual([name, entry.value, entry.configSource], [name, value, configSource]);
    }
  }
});

test('a value from the file is the source of a topic’s default', () => {
  const entry = find(topicEntries(configOf({ 'log.segment.bytes': '2097152' }), new Map()), 'segment.bytes');
  assert.equal(entry.value, '2097152');
  assert.equal(entry.configSource, configSources.STATIC_BROKER_CONFIG);
  assert.deepEqual(
    entry.synonyms.map(({ source, value }) => [source, value]),
    [
      [configSources.STATIC_BROKER_CONFIG, '2097152'],
      [configSources.DEFAULT_CONFIG, '1073741824'],
    ],
  );
});

test('hours and minutes reach a topic in milliseconds', () => {
  const values = (properties: Readonly<Record<string, string>>, name: string) =>
    find(topicEntries(configOf(properties), new Map()), name).value;
  assert.equal(values({ 'log.retention.hours': '2' }, 'retention.ms'), '7200000');
  assert.equal(values({ 'log.retention.hours': '2', 'log.retention.minutes': '3' }, 'retention.ms'), '180000');
  assert.equal(values({ 'log.retention.minutes': '3', 'log.retention.ms': '5' }, 'retention.ms'), '5');
  assert.equal(values({ 'log.retention.hours': '-1' }, 'retention.ms'), '-1');
  assert.equal(values({ 'log.roll.hours': '1' }, 'segment.ms'), '3600000');
  assert.equal(values({ 'log.flush.scheduler.interval.ms': '7' }, 'flush.ms'), '7');
});

test('secrets and keys that nobody knows are told without their values', () => {
  const entries = brokerEntries(
    configOf({ 'ssl.key.password': 'hunter2', 'no.such.key': 'x', 'listener.name.plaintext.ssl.key.password': 'y' }),
  );
  for (const name of ['ssl.key.password', 'no.such.key', 'listener.name.plaintext.ssl.key.password']) {
    const entry = find(entries, name);
    assert.equal(entry.value, null);
    assert.equal(entry.isSensitive, true);
    assert.equal(entry.synonyms[0]?.value, null);
    assert.equal(entry.configSource, configSources.STATIC_BROKER_CONFIG);
  }
});

test('what can change while the broker runs is not read-only', () => {
  const entries = brokerEntries(configOf({ 'listener.name.plaintext.max.connections': '5' }));
  const readOnly = (name: string) => find(entries, name).readOnly;
  assert.equal(readOnly('log.retention.ms'), false);
  assert.equal(readOnly('ssl.keystore.location'), false);
  assert.equal(readOnly('broker.id'), true);
  assert.equal(readOnly('listener.name.plaintext.max.connections'), true);
});

test('types carry Kafka’s numbers, and every known setting its documentation', () => {
  const entries = brokerEntries(configOf());
  const types = ['log.preallocate', 'log.dir', 'num.partitions', 'log.retention.ms', 'sasl.jaas.config', 'broker.rack'].map(
    (name) => find(entries, name).configType,
  );
  assert.deepEqual(types, [1, 7, 3, 5, 9, 2]);
  assert.ok(entries.every(({ documentation }) => documentation !== null && documentation.length > 0));
});

test('internal settings show only where they are set', () => {
  const names = (configs: Readonly<Record<string, string>>) => topicEntries(configOf(), overrides(configs)).map(({ name }) => name);
  assert.equal(names({}).length, 37);
  assert.ok(!names({}).includes('internal.segment.bytes'));
  assert.ok(names({ 'internal.segment.bytes': '100' }).includes('internal.segment.bytes'));
});

test('a subscription to client metrics has its own values over the defaults', () => {
  const entries = clientMetricsEntries(overrides({ 'interval.ms': '0100' }));
  assert.deepEqual(
    entries.map(({ name, value, configSource }) => [name, value, configSource]),
    [
      ['metrics', '', configSources.DEFAULT_CONFIG],
      ['interval.ms', '100', configSources.CLIENT_METRICS_CONFIG],
      ['match', '', configSources.DEFAULT_CONFIG],
    ],
  );
});
