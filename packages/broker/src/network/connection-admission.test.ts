import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionAdmission, type ConnectionLimits } from './connection-admission.ts';

const unlimited: ConnectionLimits = {
  maxConnections: Number.MAX_SAFE_INTEGER,
  maxCreationRate: Number.MAX_SAFE_INTEGER,
  maxConnectionsPerIp: Number.MAX_SAFE_INTEGER,
  maxConnectionsPerIpOverrides: new Map(),
  creationBurstSeconds: 10,
  ofListener: () => ({}),
};

/** Brokers use the listener BROKERS. */
function setUp(limits: Partial<ConnectionLimits>) {
  const time = { nowMs: 1000 };
  const clock = { monotonicMs: () => time.nowMs, wallTimeMs: () => time.nowMs };
  const admission = new ConnectionAdmission(
    clock,
    () => ({ ...unlimited, ...limits }),
    (name) => name === 'BROKERS',
  );
  return { admission, time };
}

test('beyond max.connections the next one waits until another goes', () => {
  const { admission } = setUp({ maxConnections: 2 });
  assert.equal(admission.admit('CLIENTS'), 'admitted');
  assert.equal(admission.admit('OTHERS'), 'admitted');
  assert.equal(admission.admit('CLIENTS'), 'full');
  admission.release('OTHERS');
  assert.equal(admission.admit('CLIENTS'), 'admitted');
});

test('brokers come in beyond max.connections, and a client has to go for them', () => {
  const { admission } = setUp({ maxConnections: 1 });
  assert.equal(admission.admit('CLIENTS'), 'admitted');
  assert.equal(admission.isOverfull, false);
  assert.equal(admission.admit('BROKERS'), 'admitted');
  assert.equal(admission.isOverfull, true);
  admission.release('CLIENTS');
  assert.equal(admission.isOverfull, false);
  assert.equal(admission.admit('CLIENTS'), 'full');
});

test('a listener with a limit of its own fills up alone, that of the brokers too', () => {
  const { admission } = setUp({ ofListener: (name) => (name === 'OTHERS' ? {} : { maxConnections: 1 }) });
  for (const listener of ['CLIENTS', 'BROKERS']) {
    assert.equal(admission.admit(listener), 'admitted');
    assert.equal(admission.admit(listener), 'full');
  }
  assert.equal(admission.admit('OTHERS'), 'admitted');
  assert.equal(admission.admit('OTHERS'), 'admitted');
});

test('an address may have as many connections as max.connections.per.ip or its own override allows', () => {
  const { admission } = setUp({ maxConnectionsPerIp: 1, maxConnectionsPerIpOverrides: new Map([['10.0.0.2', 2]]) });
  assert.equal(admission.arrive('10.0.0.1'), undefined);
  assert.equal(admission.arrive('10.0.0.1'), 1);
  admission.leave('10.0.0.1');
  admission.leave('10.0.0.1');
  assert.equal(admission.arrive('10.0.0.1'), undefined);
  assert.equal(admission.arrive('10.0.0.2'), undefined);
  assert.equal(admission.arrive('10.0.0.2'), undefined);
  assert.equal(admission.arrive('10.0.0.2'), 2);
});

test('connections come no quicker than max.connection.creation.rate after the first burst', () => {
  const { admission, time } = setUp({ maxCreationRate: 5, creationBurstSeconds: 2 });
  for (let i = 0; i < 10; i++) assert.equal(admission.admit('CLIENTS'), 'admitted');
  assert.equal(admission.admit('CLIENTS'), 200);
  time.nowMs += 199;
  assert.equal(admission.admit('CLIENTS'), 1);
  time.nowMs += 1;
  assert.equal(admission.admit('CLIENTS'), 'admitted');
  assert.equal(admission.admit('CLIENTS'), 200);
});

test('the rate of one listener holds back nobody else', () => {
  const { admission } = setUp({
    creationBurstSeconds: 1,
    ofListener: (name) => (name === 'CLIENTS' ? { maxCreationRate: 1 } : {}),
  });
  assert.equal(admission.admit('CLIENTS'), 'admitted');
  assert.equal(admission.admit('CLIENTS'), 1000);
  assert.equal(admission.admit('OTHERS'), 'admitted');
});

test('a rate of 0 lets nobody in', () => {
  const { admission } = setUp({ maxCreationRate: 0 });
  assert.equal(admission.admit('CLIENTS'), 1000);
});
