// The file that is shipped as an example and as documentation.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseProperties, type Setting } from '@odradek/runtime';
import { BrokerConfig, builtInProperties } from '../broker-config.ts';
import { brokerSettings } from './broker-settings.ts';

const text = readFileSync(join(import.meta.dirname, '../../../../config/server.properties'), 'utf8');

test('the example file starts what a broker without a file is', () => {
  const properties = parseProperties(text);
  assert.deepEqual(properties, new Map(builtInProperties));
  assert.deepEqual(new BrokerConfig(properties).warnings, []);
});

test('the lines that are commented out are settings with their defaults', () => {
  const settings: Readonly<Record<string, Setting>> = brokerSettings;
  // Examples of something else than the default.
  const examples = ['listeners', 'advertised.listeners', 'listener.security.protocol.map', 'inter.broker.listener.name'];
  const lines = [...text.matchAll(/^#([a-z.]+)=(.*)$/gm)];
  assert.ok(lines.length > 20);
  for (const [, name = '', value] of lines) {
    assert.ok(Object.hasOwn(settings, name), name);
    if (!examples.includes(name)) assert.equal(value, settings[name]?.defaultText ?? '', name);
  }
});
