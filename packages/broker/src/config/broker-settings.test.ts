import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Setting } from '@odradek/runtime';
import { goldenDirectory } from '@odradek/testing';
import { authorizerSettings } from './authorizer-settings.ts';
import { brokerSettings } from './broker-settings.ts';
import { clientMetricsSettings } from './client-metrics-settings.ts';
import { dynamicQuotaSettings } from './dynamic-quota-settings.ts';
import { perGroupSettings } from './per-group-settings.ts';
import { topicSettings } from './topic-settings.ts';

interface GoldenSetting {
  readonly scope: string;
  readonly name: string;
  readonly type: string;
  readonly default?: string | null;
  readonly valid?: string;
  readonly importance: string;
  readonly required?: boolean;
  readonly internal?: boolean;
}

const tables: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
  broker: brokerSettings,
  topic: topicSettings,
  group: perGroupSettings,
};

function golden(release: string, directory: string): GoldenSetting[] {
  return readFileSync(join(directory, 'misc', `config-defs-${release}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as GoldenSetting)
    .filter(({ scope }) => scope in tables);
}

/** A setting in the golden file's words. */
function described({ scope, name }: GoldenSetting): Partial<GoldenSetting> | undefined {
  const setting = tables[scope]?.[name];
  return (
    setting && {
      type: setting.type,
      default: setting.defaultText,
      ...(setting.check === undefined ? {} : { valid: setting.check.description }),
      importance: setting.importance,
      ...(setting.isInternal ? { internal: true } : {}),
    }
  );
}

function expected({ scope: _scope, name: _name, required: _required, ...facts }: GoldenSetting): Partial<GoldenSetting> {
  return facts;
}

test("every setting of Kafka 4.4 has Kafka's type, default, rule and importance", (t) => {
  const directory = goldenDirectory();
  if (directory === undefined) return t.skip('the golden facts are not here');
  const settings = golden('4.4', directory);
  assert.equal(settings.length, 379 + 38 + 27);
  for (const setting of settings) {
    // A KRaft node cannot start without these three; a broker of Odradek can, as with Kafka 3.9.
    if (setting.required === true) continue;
    assert.deepEqual(described(setting), expected(setting), setting.name);
  }
  assert.deepEqual(
    settings
      .filter(({ required }) => required === true)
      .map(({ name }) => name)
      .sort(),
    ['controller.listener.names', 'node.id', 'process.roles'],
  );
});

test('every setting that only Kafka 3.9 has is there as well', (t) => {
  const directory = goldenDirectory();
  if (directory === undefined) return t.skip('the golden facts are not here');
  const newer = new Set(golden('4.4', directory).map(({ scope, name }) => `${scope} ${name}`));
  for (const setting of golden('3.9', directory)) {
    if (newer.has(`${setting.scope} ${setting.name}`)) continue;
    // A topic shows what 4.4 has removed only where somebody has set it.
    const facts = setting.scope === 'topic' ? { ...expected(setting), internal: true } : expected(setting);
    assert.deepEqual(described(setting), facts, setting.name);
  }
});

test('nothing is there that neither Kafka has, but for what is our own', (t) => {
  const directory = goldenDirectory();
  if (directory === undefined) return t.skip('the golden facts are not here');
  const known = new Set([...golden('4.4', directory), ...golden('3.9', directory)].map(({ scope, name }) => `${scope} ${name}`));
  for (const [scope, table] of Object.entries(tables)) {
    for (const name of Object.keys(table)) {
      if (!name.startsWith('odradek.') && !(name in authorizerSettings))
        assert.ok(known.has(`${scope} ${name}`), `${scope} ${name}`);
    }
  }
});

test('every setting is documented in a sentence, and no default breaks its own rule', () => {
  const all = { ...clientMetricsSettings, ...dynamicQuotaSettings, ...perGroupSettings, ...topicSettings, ...brokerSettings };
  for (const [name, setting] of Object.entries<Setting>(all)) {
    assert.match(setting.documentation, /^[\p{Lu}*].{15,}[.]$/u, name);
    if (setting.defaultValue === null) continue;
    assert.equal(setting.check?.problem(setting.defaultValue, setting.defaultText ?? ''), undefined, name);
  }
});
