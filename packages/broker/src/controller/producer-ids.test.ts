import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConnectionError } from '@odradek/client/connection';
import { producerIdBlockNode } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import { startOneBroker } from '../admin/one-broker.fixture.ts';
import { allocateProducerIds, ProducerIds, requestProducerIds } from './producer-ids.ts';

describe('producer ids', () => {
  it('are allocated in blocks of a thousand, as Kafka writes them', async () => {
    const { coordination, close } = await startOneBroker();
    const read = async () => (await coordination.get(producerIdBlockNode.path)).data?.toString();
    assert.deepEqual(await allocateProducerIds(coordination, 0), { first: 0, count: 1000 });
    assert.equal(await read(), '{"version":1,"broker":0,"block_start":"0","block_end":"999"}');
    assert.deepEqual(await allocateProducerIds(coordination, 1), { first: 1000, count: 1000 });
    assert.equal(await read(), '{"version":1,"broker":1,"block_start":"1000","block_end":"1999"}');
    await close();
  });

  it('are never given to two brokers that ask at once', async () => {
    const { coordination, close } = await startOneBroker();
    const blocks = await Promise.all(Array.from({ length: 20 }, (_, broker) => allocateProducerIds(coordination, broker)));
    assert.equal(new Set(blocks.map(({ first }) => first)).size, 20);
    await close();
  });

  it('come one by one, with one request for all who wait for a block', async () => {
    let asked = 0;
    const ids = new ProducerIds(async () => ({ first: 2 * asked++, count: 2 }));
    const given = await Promise.all(Array.from({ length: 5 }, () => ids.next()));
    assert.deepEqual(given, [0, 1, 2, 3, 4]);
    assert.equal(asked, 3);
  });

  it('fail for those who wait when there is no block, and are tried again', async () => {
    let isDown = true;
    const ids = new ProducerIds(async () => {
      if (isDown) throw new Error('no controller');
      return { first: 7, count: 1 };
    });
    await assert.rejects(Promise.all([ids.next(), ids.next()]), /no controller/);
    isDown = false;
    assert.equal(await ids.next(), 7);
  });
});

for (const { name, answer } of [
  { name: 'cannot be reached', answer: () => Promise.reject(new ConnectionError('closed', 'gone')) },
  { name: 'knows another life of this broker', answer: () => Promise.resolve({ errorCode: errorCodes.STALE_BROKER_EPOCH }) },
  { name: 'may not be asked', answer: () => Promise.resolve({ errorCode: errorCodes.CLUSTER_AUTHORIZATION_FAILED }) },
]) {
  it(`a client is told to come again when the controller ${name}`, async () => {
    const controller = { send: answer } as unknown as Parameters<typeof requestProducerIds>[0];
    await assert.rejects(requestProducerIds(controller, { brokerId: 1, brokerEpoch: 7 }, 1000), (error) => {
      assert.ok(error instanceof ProtocolError);
      assert.equal(error.code, errorCodes.COORDINATOR_LOAD_IN_PROGRESS);
      return true;
    });
  });
}
