import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { brokerIdNode, type Coordination, EmbeddedStore } from '@odradek/coordination';
import { createLogger, SeededRandom, SystemTimer, systemClock } from '@odradek/runtime';
import { SimulatedDisk, SimulatedWorld } from '@odradek/testing';
import {
  AddressInUseError,
  BrokerIdInUseError,
  createPersistentPaths,
  ensureAddressesAreFree,
  generateBrokerId,
  getOrCreateClusterId,
  InconsistentBrokerIdError,
  InconsistentClusterIdError,
  knownBrokerId,
  registerBroker,
  updateRegistration,
} from './broker-registration.ts';

const logger = createLogger({ level: 'fatal' });
const broker = { id: 3, rack: 'r', endpoints: [{ listener: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: 'b3', port: 9092 }] };
const parts = { clock: systemClock, timer: new SystemTimer(systemClock), logger, sessionTimeoutMs: 1000 };

describe('broker registration', () => {
  let store: EmbeddedStore;
  let coordination: Coordination;
  beforeEach(async () => {
    store = await EmbeddedStore.open({
      fileSystem: new SimulatedDisk(),
      timer: new SystemTimer(systemClock),
      clock: systemClock,
      logger,
      directory: '/data',
    });
    coordination = await store.openSession();
    await createPersistentPaths(coordination);
  });
  afterEach(() => store.close());

  it('finds the folders that are there already', async () => {
    await createPersistentPaths(coordination);
    assert.notEqual(await coordination.exists('/brokers/ids'), undefined);
  });

  it('draws a cluster id once, and refuses a directory of another cluster', async () => {
    const random = new SeededRandom(1);
    const clusterId = await getOrCreateClusterId(coordination, { random });
    assert.match(clusterId, /^[\w-]{22}$/);
    assert.equal(await getOrCreateClusterId(coordination, { random }), clusterId);
    assert.equal(await getOrCreateClusterId(coordination, { random, expected: clusterId }), clusterId);
    await assert.rejects(
      getOrCreateClusterId(coordination, { random, expected: 'another' }),
      (error: unknown) => error instanceof InconsistentClusterIdError && /cluster another/.test(error.message),
    );
  });

  it('keeps the id of a directory that has lost its tree', async () => {
    assert.equal(await getOrCreateClusterId(coordination, { random: new SeededRandom(1), expected: 'kept' }), 'kept');
  });

  it('refuses to begin a cluster in an ensemble that does not know that of the directory', async () => {
    const random = new SeededRandom(1);
    await assert.rejects(
      getOrCreateClusterId(coordination, { random, expected: 'kept', isElsewhere: true }),
      (error: unknown) => error instanceof InconsistentClusterIdError && /cluster kept .* no cluster yet/.test(error.message),
    );
    const clusterId = await getOrCreateClusterId(coordination, { random, isElsewhere: true });
    assert.equal(await getOrCreateClusterId(coordination, { random, expected: clusterId, isElsewhere: true }), clusterId);
  });

  for (const { name, configured, stored, expected } of [
    { name: 'a new broker has the id that is configured', configured: 3, stored: undefined, expected: 3 },
    { name: 'directories say the id when none is configured', configured: -1, stored: 1001, expected: 1001 },
    { name: 'both may say the same', configured: 3, stored: 3, expected: 3 },
    { name: 'an id is generated when nothing says one', configured: -1, stored: undefined, expected: undefined },
  ]) {
    it(name, () => assert.equal(knownBrokerId(configured, stored), expected));
  }

  it('refuses the directories of another broker', () => {
    assert.throws(
      () => knownBrokerId(3, 4),
      (error: unknown) => error instanceof InconsistentBrokerIdError && /broker.id is 3, .* belong to broker 4/.test(error.message),
    );
  });

  it('generates ids above the reserved ones', async () => {
    assert.deepEqual([await generateBrokerId(coordination, 1000), await generateBrokerId(coordination, 1000)], [1001, 1002]);
  });

  it('answers the transaction of the registration as the epoch', async () => {
    const epoch = await registerBroker(coordination, broker, parts);
    const { data, stat } = await coordination.get(brokerIdNode.path(3));
    assert.deepEqual([stat.czxid, stat.version, stat.ephemeralOwner], [epoch, 1, coordination.sessionId]);
    assert.deepEqual(brokerIdNode.decode(3, data).endpoints, broker.endpoints);
    await updateRegistration(coordination, { ...broker, endpoints: [] }, systemClock);
    assert.deepEqual(brokerIdNode.decode(3, (await coordination.get(brokerIdNode.path(3))).data).endpoints, []);
  });

  it('waits until an earlier session of the broker has expired', async () => {
    const earlier = await store.openSession();
    const firstEpoch = await registerBroker(earlier, broker, parts);
    const registering = registerBroker(coordination, broker, parts);
    await coordination.sync('/');
    await store.expireSession(earlier.sessionId);
    assert.ok((await registering) > firstEpoch);
  });

  it('is refused with an address of another broker, but not with that of an earlier life', async () => {
    await registerBroker(await store.openSession(), broker, parts);
    await ensureAddressesAreFree(coordination, broker);
    await ensureAddressesAreFree(coordination, { ...broker, id: 4, endpoints: [{ ...broker.endpoints[0]!, port: 9093 }] });
    await assert.rejects(
      ensureAddressesAreFree(coordination, { ...broker, id: 4 }),
      (error: unknown) => error instanceof AddressInUseError && /Broker 3 is registered with b3:9092 already/.test(error.message),
    );
  });

  it('gives up when another broker with the id lives on, and says so', async () => {
    await registerBroker(await store.openSession(), broker, parts);
    const world = new SimulatedWorld({ seed: 1 });
    const registering = registerBroker(coordination, broker, { ...world.machine('late'), logger, sessionTimeoutMs: 6000 });
    const refused = assert.rejects(
      registering,
      (error: unknown) => error instanceof BrokerIdInUseError && /Another broker with the id 3 is alive/.test(error.message),
    );
    // The first look must have been taken before time passes.
    for (let look = 0; look < 5; look++) await coordination.sync('/');
    await world.advance(6000 + 4000);
    await refused;
  });

  it('takes a node of its own session for its registration', async () => {
    const epoch = await registerBroker(coordination, broker, parts);
    assert.equal(await registerBroker(coordination, broker, parts), epoch);
  });
});
