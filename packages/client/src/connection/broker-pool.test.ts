import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HeartbeatRequest, HeartbeatResponse } from '@odradek/protocol';
import { SimulatedWorld } from '@odradek/testing';
import { BrokerPool, type BrokerPoolOptions } from './broker-pool.ts';
import { ConnectionError, type ConnectionFault } from './connection-error.ts';
import { type Received, ScriptedBroker } from './scripted-broker.fixture.ts';

const heartbeat = { request: HeartbeatRequest, response: HeartbeatResponse };

function setUp(options: Partial<BrokerPoolOptions> = {}): { readonly world: SimulatedWorld; readonly pool: BrokerPool } {
  const world = new SimulatedWorld({ seed: 3 });
  return { world, pool: new BrokerPool(world.machine('client'), { clientId: 'me', ...options }) };
}

const healthy = { onRequest: (request: Received) => request.answer(HeartbeatResponse, { errorCode: 0 }) };

function withFault(fault: ConnectionFault): (error: unknown) => boolean {
  return (error) => error instanceof ConnectionError && error.fault === fault;
}

describe('a pool of brokers', () => {
  test('opens one connection to each broker, for all who ask at once', async () => {
    const { world, pool } = setUp();
    const broker = await ScriptedBroker.start(world.machine('one'), healthy);
    pool.setNode(1, { host: 'one', port: 9092 });
    assert.equal(pool.openConnection(1), undefined);
    const connections = await world.run(Promise.all([pool.connection(1), pool.connection(1)]));
    assert.equal(connections[0], connections[1]);
    await world.run(pool.send(1, heartbeat, { groupId: 'g' }));
    assert.equal(pool.openConnection(1), connections[0]);
    assert.equal(broker.connections, 1);
  });

  test('opens another after the first has broken', async () => {
    const { world, pool } = setUp();
    const broker = await ScriptedBroker.start(world.machine('one'), healthy);
    pool.setNode(1, { host: 'one', port: 9092 });
    const first = await world.run(pool.connection(1));
    pool.disconnect(1);
    await world.advance(1);
    assert.equal(pool.openConnection(1), undefined);
    const second = await world.run(pool.connection(1));
    assert.notEqual(first, second);
    assert.equal(broker.connections, 2);
  });

  test('waits longer after each failure, up to a limit, and not at all after a success', async () => {
    const { world, pool } = setUp({ reconnectBackoffMs: 50, reconnectBackoffMaxMs: 400 });
    pool.setNode(1, { host: 'one', port: 9092 });
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) {
      const startMs = world.clock.monotonicMs();
      await assert.rejects(world.run(pool.connection(1)), withFault('unreachable'));
      waits.push(world.clock.monotonicMs() - startMs);
    }
    for (const [index, wanted] of [0, 50, 100, 200, 400, 400, 400].entries()) {
      const waited = waits[index] ?? -1;
      assert.ok(waited >= wanted * 0.8 && waited <= wanted * 1.2 + 5, `attempt ${index} waited ${waited} ms, not about ${wanted}`);
    }
    await ScriptedBroker.start(world.machine('one'), healthy);
    await world.run(pool.connection(1));
    pool.disconnect(1);
    await world.advance(1);
    const startMs = world.clock.monotonicMs();
    await world.run(pool.connection(1));
    assert.ok(world.clock.monotonicMs() - startMs < 100, 'the failures before the success are forgotten');
  });

  test('closes the connection to where a broker was when it has moved', async () => {
    const { world, pool } = setUp();
    await ScriptedBroker.start(world.machine('one'), healthy);
    const second = await ScriptedBroker.start(world.machine('two'), healthy);
    pool.setNode(1, { host: 'one', port: 9092 });
    const before = await world.run(pool.connection(1));
    pool.setNode(1, { host: 'one', port: 9092 });
    assert.ok(!before.isClosed, 'the same address again changes nothing');
    pool.setNode(1, { host: 'two', port: 9092 });
    assert.ok(before.isClosed);
    await world.run(pool.send(1, heartbeat, {}));
    assert.equal(second.connections, 1);
  });

  test('gives nobody a connection to a broker that is gone', async () => {
    const { world, pool } = setUp();
    await assert.rejects(pool.connection(9), withFault('unreachable'));
    pool.setNode(1, { host: 'one', port: 9092 });
    await assert.rejects(world.run(pool.connection(1)), withFault('unreachable'));
    const waiting = assert.rejects(pool.connection(1), withFault('closed'));
    pool.removeNode(1);
    await waiting;
    await ScriptedBroker.start(world.machine('two'), healthy);
    pool.setNode(2, { host: 'two', port: 9092 });
    const opening = assert.rejects(pool.connection(2), withFault('closed'));
    pool.removeNode(2);
    await world.run(opening);
  });

  test('opens nothing once it is closed', async () => {
    const { world, pool } = setUp();
    await ScriptedBroker.start(world.machine('one'), healthy);
    pool.setNode(1, { host: 'one', port: 9092 });
    const connection = await world.run(pool.connection(1));
    pool.close();
    assert.ok(connection.isClosed);
    await assert.rejects(pool.connection(1), withFault('unreachable'));
  });
});
