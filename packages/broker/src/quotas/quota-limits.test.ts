import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QuotaEntity } from './quota-entities.ts';
import { QuotaLimits } from './quota-limits.ts';

/** The most telling first, and with whom the client u, c shares it. */
const levels: readonly { readonly entity: QuotaEntity; readonly user: string; readonly clientId: string }[] = [
  { entity: { user: 'u', clientId: 'c' }, user: 'u', clientId: 'c' },
  { entity: { user: 'u', clientId: null }, user: 'u', clientId: 'c' },
  { entity: { user: 'u' }, user: 'u', clientId: '' },
  { entity: { user: null, clientId: 'c' }, user: 'u', clientId: 'c' },
  { entity: { user: null, clientId: null }, user: 'u', clientId: 'c' },
  { entity: { user: null }, user: 'u', clientId: '' },
  { entity: { clientId: 'c' }, user: '', clientId: 'c' },
  { entity: { clientId: null }, user: '', clientId: 'c' },
];

function limitsOf(entities: readonly QuotaEntity[]): QuotaLimits {
  const perSecond = (entity: QuotaEntity): number => levels.findIndex((level) => level.entity === entity) + 1;
  return new QuotaLimits(entities.map((entity) => ({ entity, values: new Map([['producer_byte_rate', perSecond(entity)]]) })));
}

describe('the limit of a client', () => {
  for (const [index, { entity, user, clientId }] of levels.entries()) {
    it(`is that of ${JSON.stringify(entity)} before all that tell less`, () => {
      const entities = levels.slice(index).map((level) => level.entity);
      for (const order of [entities, entities.toReversed()]) {
        const limits = limitsOf(order);
        assert.deepEqual(limits.ofClient('producer_byte_rate', 'u', 'c'), { perSecond: index + 1, user, clientId });
        assert.equal(limits.ofClient('consumer_byte_rate', 'u', 'c'), undefined);
      }
    });
  }

  it('does not come from what is for others', () => {
    const limits = limitsOf([levels[0]!, levels[1]!, levels[2]!, levels[6]!].map(({ entity }) => entity));
    assert.equal(limits.ofClient('producer_byte_rate', 'v', 'd'), undefined);
    assert.deepEqual(limits.ofClient('producer_byte_rate', 'v', 'c'), { perSecond: 7, user: '', clientId: 'c' });
    assert.deepEqual(limits.ofClient('producer_byte_rate', 'u', 'd'), { perSecond: 2, user: 'u', clientId: 'd' });
  });

  it('goes by each key for itself', () => {
    const limits = new QuotaLimits([
      { entity: { user: 'u', clientId: 'c' }, values: new Map([['consumer_byte_rate', 5]]) },
      { entity: { clientId: 'c' }, values: new Map([['producer_byte_rate', 7]]) },
    ]);
    assert.equal(limits.ofClient('producer_byte_rate', 'u', 'c')?.perSecond, 7);
    assert.equal(limits.ofClient('consumer_byte_rate', 'u', 'c')?.perSecond, 5);
  });

  it('may be for the client without a name', () => {
    const limits = limitsOf([levels[7]!.entity]);
    assert.deepEqual(limits.ofClient('producer_byte_rate', 'u', ''), { perSecond: 8, user: '', clientId: '' });
  });
});

describe('the limit of an address', () => {
  it('is its own, else that of all', () => {
    const values = (rate: number) => new Map([['connection_creation_rate', rate]]);
    const limits = new QuotaLimits([
      { entity: { ip: '10.0.0.1' }, values: values(1) },
      { entity: { ip: null }, values: values(2) },
    ]);
    assert.deepEqual([limits.ofAddress('10.0.0.1'), limits.ofAddress('::1')], [1, 2]);
    assert.deepEqual([limits.limitsAddresses, limits.limitsClients], [true, false]);
  });
});

describe('without quotas', () => {
  it('nothing is limited, as one look tells', () => {
    const limits = new QuotaLimits([]);
    assert.deepEqual([limits.limitsAddresses, limits.limitsClients], [false, false]);
    assert.equal(limits.ofClient('producer_byte_rate', 'u', 'c'), undefined);
    assert.equal(limits.ofAddress('10.0.0.1'), undefined);
  });
});
