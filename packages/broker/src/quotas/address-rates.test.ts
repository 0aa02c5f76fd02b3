import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressRates } from './address-rates.ts';
import { QuotaLimits } from './quota-limits.ts';

function setUp(rates: Readonly<Record<string, number>>) {
  const time = { nowMs: 100_000 };
  const entities = Object.entries(rates).map(([ip, rate]) => ({
    entity: { ip: ip === '*' ? null : ip },
    values: new Map([['connection_creation_rate', rate]]),
  }));
  const addresses = new AddressRates({
    clock: { monotonicMs: () => time.nowMs, wallTimeMs: () => 0 },
    quotas: { limits: new QuotaLimits(entities) },
    windowCount: 11,
    windowMs: 1000,
  });
  return { time, addresses };
}

test('an address may open so many connections a second, over all windows', () => {
  const { time, addresses } = setUp({ '10.0.0.1': 2 });
  for (let connection = 0; connection < 20; connection++) assert.equal(addresses.arrive('10.0.0.1'), 0);
  assert.equal(addresses.arrive('10.0.0.1'), 500);
  assert.equal(addresses.arrive('10.0.0.1'), 500, 'what is turned away does not count');
  assert.equal(addresses.arrive('10.0.0.2'), 0);
  time.nowMs += 11_000;
  assert.equal(addresses.arrive('10.0.0.1'), 0);
});

test('each address has the default for itself, and waits for a window at most', () => {
  const { addresses } = setUp({ '*': 1, '10.0.0.1': 1000 });
  for (let connection = 0; connection < 10; connection++) {
    assert.equal(addresses.arrive('10.0.0.2'), 0);
    assert.equal(addresses.arrive('10.0.0.3'), 0);
  }
  assert.equal(addresses.arrive('10.0.0.2'), 1000);
  for (let connection = 0; connection < 100; connection++) assert.equal(addresses.arrive('10.0.0.1'), 0);
});

test('without quotas every connection is welcome', () => {
  assert.equal(setUp({}).addresses.arrive('10.0.0.1'), 0);
});
