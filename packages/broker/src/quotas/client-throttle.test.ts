import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FetchRequest, ListOffsetsRequest, type Message, type MessageDefinition, ProduceRequest } from '@odradek/protocol';
import { requestContext } from '../requests/call-handler.fixture.ts';
import type { RequestContext } from '../requests/request-context.ts';
import { ClientThrottle } from './client-throttle.ts';
import { type EntityQuotas, QuotaLimits } from './quota-limits.ts';

const [produceKey, fetchKey, listKey, brokerKey] = [
  ProduceRequest.apiKey ?? -1,
  FetchRequest.apiKey ?? -1,
  ListOffsetsRequest.apiKey ?? -1,
  4,
];

function quotasOf(values: Readonly<Record<string, number>>, entity: EntityQuotas['entity'] = { clientId: null }): EntityQuotas[] {
  return [{ entity, values: new Map(Object.entries(values)) }];
}

function setUp(entities: readonly EntityQuotas[]) {
  const time = { nowMs: 100_000 };
  const quotas = { limits: new QuotaLimits(entities) };
  const throttle = new ClientThrottle({
    clock: { monotonicMs: () => time.nowMs, wallTimeMs: () => 0 },
    quotas,
    windowCount: 11,
    windowMs: 1000,
    isBrokerApi: (apiKey) => apiKey === brokerKey,
  });
  return { time, quotas, throttle };
}

const contextOf = (apiKey: number, about: Partial<RequestContext> = {}): RequestContext => ({
  ...requestContext(apiKey, 12),
  ...about,
});
const noBody = {} as Message<MessageDefinition>;
const cost = (requestBytes: number, busyMs = 0, isAnswered = true) => ({ requestBytes, busyMs, isAnswered });
const consumers = { replicaId: -1 } as Message<MessageDefinition>;
const followers = { replicaId: 2 } as Message<MessageDefinition>;

describe('producer_byte_rate', () => {
  const produce = (throttle: ClientThrottle, bytes: number, about: Partial<RequestContext> = {}) =>
    throttle.throttleMs(noBody, contextOf(produceKey, about), cost(bytes));

  it('lets clients burst for all windows, then makes them wait as long as it takes', () => {
    const { time, throttle } = setUp(quotasOf({ producer_byte_rate: 100 }));
    assert.equal(produce(throttle, 1000), 0);
    assert.equal(produce(throttle, 300), 3000);
    time.nowMs += 3000;
    assert.equal(produce(throttle, 0), 3000, 'still within the windows that are measured over');
    time.nowMs += 8000;
    assert.equal(produce(throttle, 0), 0);
  });

  it('is for what is produced only', () => {
    const { throttle } = setUp(quotasOf({ producer_byte_rate: 100 }));
    assert.equal(throttle.throttleMs(noBody, contextOf(listKey), cost(5000)), 0);
    assert.equal(produce(throttle, 1000), 0);
  });

  it('holds for clients without an answer, too', () => {
    const { throttle } = setUp(quotasOf({ producer_byte_rate: 100, request_percentage: 1 }));
    assert.equal(throttle.throttleMs(noBody, contextOf(produceKey), cost(2000, 5000, false)), 10_000);
    assert.equal(throttle.throttleMs(noBody, contextOf(listKey), cost(0)), 0, 'their time is not measured');
  });

  it('is shared by those whom the quota does not tell apart', () => {
    const { throttle } = setUp(quotasOf({ producer_byte_rate: 100 }, { user: null }));
    const alice = { principal: { type: 'User', name: 'alice' } };
    assert.equal(produce(throttle, 1000, { ...alice, clientId: 'a' }), 0);
    assert.equal(produce(throttle, 100, { ...alice, clientId: 'b' }), 1000);
    assert.equal(produce(throttle, 1000, { clientId: 'b' }), 0);
  });

  it('counts for clients without a name together', () => {
    const { throttle } = setUp(quotasOf({ producer_byte_rate: 100 }));
    assert.equal(produce(throttle, 1000, { clientId: null }), 0);
    assert.equal(produce(throttle, 100, { clientId: '' }), 1000);
  });

  it('changes at once, for what was done before as well', () => {
    const { quotas, throttle } = setUp(quotasOf({ producer_byte_rate: 1000 }));
    assert.equal(produce(throttle, 2000), 0);
    quotas.limits = new QuotaLimits(quotasOf({ producer_byte_rate: 100 }));
    assert.equal(produce(throttle, 0), 10_000);
    quotas.limits = new QuotaLimits([]);
    assert.equal(throttle.isActive, false);
    assert.equal(produce(throttle, 1e9), 0);
  });

  it('is not for brokers', () => {
    const { throttle } = setUp(quotasOf({ producer_byte_rate: 1, consumer_byte_rate: 1 }));
    assert.equal(produce(throttle, 1e6, { isPrivileged: true }), 0);
    assert.equal(throttle.fetchThrottleMs(contextOf(fetchKey, { isPrivileged: true }), 1e6), 0);
  });
});

describe('consumer_byte_rate', () => {
  it('lets nothing out that would be too much, and does not count it', () => {
    const { time, throttle } = setUp(quotasOf({ consumer_byte_rate: 100 }));
    const context = contextOf(fetchKey);
    assert.equal(throttle.fetchThrottleMs(context, 900), 0);
    assert.equal(throttle.fetchThrottleMs(context, 300), 2000);
    assert.equal(throttle.fetchThrottleMs(context, 100), 0);
    time.nowMs += 11_000;
    assert.equal(throttle.fetchThrottleMs(context, 300), 0);
    assert.equal(throttle.throttleMs(consumers, context, cost(1e6)), 0, 'its request is not what is measured');
  });

  it('bounds a fetch to what may be had after a pause', () => {
    const { throttle } = setUp(quotasOf({ consumer_byte_rate: 100 }, { clientId: 'slow' }));
    assert.equal(throttle.maxFetchBytes(contextOf(fetchKey, { clientId: 'slow' })), 1000);
    assert.equal(throttle.maxFetchBytes(contextOf(fetchKey, { clientId: 'fast' })), Number.MAX_SAFE_INTEGER);
  });

  it('gets past a batch that is larger than all windows', () => {
    const { time, throttle } = setUp(quotasOf({ consumer_byte_rate: 100 }));
    const context = contextOf(fetchKey);
    assert.equal(throttle.fetchThrottleMs(context, 5000), 0);
    assert.equal(throttle.fetchThrottleMs(context, 10), 40_100);
    time.nowMs += 11_000;
    assert.equal(throttle.fetchThrottleMs(context, 5000), 0);
  });
});

describe('request_percentage', () => {
  it('is the share of time that requests take, and makes nobody wait for more than a window', () => {
    const { throttle } = setUp(quotasOf({ request_percentage: 5 }));
    const context = contextOf(listKey);
    assert.equal(throttle.throttleMs(noBody, context, cost(0, 500)), 0, 'half a second in ten');
    assert.equal(throttle.throttleMs(noBody, context, cost(0, 10)), 200);
    assert.equal(throttle.throttleMs(noBody, context, cost(0, 490)), 1000);
  });

  it('counts what came after the answer was made for the next one', () => {
    const { throttle } = setUp(quotasOf({ request_percentage: 5 }));
    const context = contextOf(listKey);
    throttle.addTime(noBody, context, 525);
    assert.equal(throttle.throttleMs(noBody, context, cost(0)), 500);
  });

  it('keeps consumers from reading, and is what they are told when it is longer', () => {
    const { throttle } = setUp(quotasOf({ request_percentage: 5, producer_byte_rate: 100, consumer_byte_rate: 100 }));
    assert.equal(throttle.throttleMs(noBody, contextOf(produceKey), cost(1001, 505)), 100);
    assert.equal(throttle.throttleMs(noBody, contextOf(produceKey), cost(10, 0)), 110);
    assert.equal(throttle.fetchThrottleMs(contextOf(fetchKey), 10), 100);
  });

  it('is not for what brokers ask of each other', () => {
    const { throttle } = setUp(quotasOf({ request_percentage: 1 }));
    for (const [body, context] of [
      [noBody, contextOf(brokerKey)],
      [followers, contextOf(fetchKey)],
      [
        { replicaId: -1, replicaState: { replicaId: 2, replicaEpoch: 1 } } as Message<MessageDefinition>,
        contextOf(fetchKey, { apiVersion: 15 }),
      ],
      [noBody, contextOf(listKey, { isPrivileged: true })],
    ] as const) {
      throttle.addTime(body, context, 1e6);
      assert.equal(throttle.throttleMs(body, context, cost(0, 1e6)), 0);
    }
    assert.equal(throttle.throttleMs(consumers, contextOf(fetchKey), cost(0, 1e6)), 1000);
  });
});
