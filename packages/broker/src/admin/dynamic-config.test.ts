import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@odradek/runtime';
import { BrokerConfig } from '../broker-config.ts';
import { type ConfigListener, configResourceTypes } from './config-changes.ts';
import { followDynamicConfig } from './dynamic-config.ts';

test('takes over what is stored for this broker and for all, then every change', async () => {
  const config = new BrokerConfig(new Map());
  const lines: string[] = [];
  const listeners = new Set<ConfigListener>();
  const stored = new Map([['', new Map([['log.retention.ms', '1']])]]);
  const changes = {
    overrides: ({ name }: { readonly name: string }) => stored.get(name) ?? new Map<string, string>(),
    onChange: (listener: ConfigListener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const stop = followDynamicConfig(config, 3, changes, createLogger({ write: (text) => lines.push(text) }));
  const change = async (name: string, value: string) => {
    const resource = { type: configResourceTypes.BROKER, name };
    for (const listener of listeners) await listener(resource, new Map([['log.retention.ms', value]]));
    return config.get('log.retention.ms');
  };
  assert.equal(config.get('log.retention.ms'), 1);
  assert.equal(await change('3', '2'), 2);
  assert.equal(await change('4', '9'), 2, 'a change of another broker');
  assert.equal(await change('3', 'x'), 1, 'what cannot be read is left out');
  assert.match(lines.join(''), /Invalid value x for configuration log\.retention\.ms/);
  stop();
  assert.equal(await change('3', '7'), 1);
});
