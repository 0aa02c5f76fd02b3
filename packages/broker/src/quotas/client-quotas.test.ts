import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { configNode } from '@odradek/coordination';
import { tryWriteConfigs } from '../admin/config-nodes.ts';
import { startOneBroker } from '../admin/one-broker.fixture.ts';
import { describeClientQuotasHandler } from '../handlers/48-describe-client-quotas.ts';
import { callHandler } from '../requests/call-handler.fixture.ts';
import { type Component, type Names, type Ops, QuotaBroker, startQuotaBroker } from './client-quotas.fixture.ts';

type Started = Awaited<ReturnType<typeof startQuotaBroker>>;

describe('quotas', () => {
  let broker: Started;
  beforeEach(async () => {
    broker = await startQuotaBroker();
  });
  afterEach(() => broker.stop());

  const read = async (path: string) => (await broker.coordination.get(path)).data?.toString();

  it('stand in the tree as Kafka writes them', async () => {
    const written: readonly (readonly [Names, Ops, path: string, data: string])[] = [
      [
        { user: 'alice' },
        { producer_byte_rate: 1048576, consumer_byte_rate: 2097152 },
        'users/alice',
        '"producer_byte_rate":"1048576","consumer_byte_rate":"2097152"',
      ],
      [
        { user: null, 'client-id': null },
        { producer_byte_rate: 100_000_000.0000001 },
        'users/<default>/clients/<default>',
        '"producer_byte_rate":"100000000"',
      ],
      [
        { user: 'bob@EX/x', 'client-id': 'app 1' },
        { request_percentage: 150 },
        'users/bob%40EX%2Fx/clients/app%201',
        '"request_percentage":"150.0"',
      ],
      [{ 'client-id': 'c*' }, { controller_mutation_rate: 0.25 }, 'clients/c%2A', '"controller_mutation_rate":"0.25"'],
      [{ 'client-id': null }, { producer_byte_rate: 2 ** 63 }, 'clients/<default>', '"producer_byte_rate":"9223372036854775807"'],
      [{ ip: '::1' }, { connection_creation_rate: 10 }, 'ips/%3A%3A1', '"connection_creation_rate":"10"'],
      [{ ip: null }, { connection_creation_rate: 2_147_483_647 }, 'ips/<default>', '"connection_creation_rate":"2147483647"'],
    ];
    for (const [names, ops, path, data] of written) {
      assert.equal(await broker.alter(names, ops), 'NONE');
      assert.equal(await read(`/config/${path}`), `{"version":1,"config":{${data}}}`);
    }
    assert.equal((await broker.coordination.get('/config/users/bob%40EX%2Fx')).data?.length ?? 0, 0, 'a folder on the way');
    const { names } = await broker.coordination.children('/config/changes');
    assert.equal(names.length, written.length);
    assert.equal(
      await read(`/config/changes/${names.sort()[2]}`),
      '{"version":2,"entity_path":"users/bob%40EX%2Fx/clients/app%201"}',
    );
  });

  it('are told by filter', async () => {
    const all: readonly Names[] = [
      { user: 'u', 'client-id': 'c' },
      { user: 'u', 'client-id': null },
      { user: 'u' },
      { user: null, 'client-id': 'c' },
      { user: null, 'client-id': null },
      { user: null },
      { 'client-id': 'c' },
      { 'client-id': null },
    ];
    for (const names of all) assert.equal(await broker.alter(names, { producer_byte_rate: 1 }), 'NONE');
    assert.equal(await broker.alter({ ip: '::1' }, { connection_creation_rate: 1 }), 'NONE');
    const [exact, byDefault, any] = [0, 1, 2];
    const asked: readonly (readonly [components: Component[], strict: boolean, found: string[]])[] = [
      [[], true, []],
      [[['user', exact, 'u']], true, ['user=u']],
      [[['user', exact, 'u']], false, ['user=u', 'user=u client-id=*', 'user=u client-id=c']],
      [[['user', byDefault, null]], true, ['user=*']],
      [[['user', any, null]], true, ['user=*', 'user=u']],
      [[['client-id', any, null]], true, ['client-id=*', 'client-id=c']],
      [[['client-id', exact, 'c']], false, ['client-id=c', 'user=* client-id=c', 'user=u client-id=c']],
      [
        [
          ['user', any, null],
          ['client-id', exact, 'c'],
        ],
        true,
        ['user=* client-id=c', 'user=u client-id=c'],
      ],
      [[['ip', any, null]], false, ['ip=::1']],
      [[['ip', exact, '10.0.0.1']], false, []],
    ];
    for (const [components, strict, found] of asked) {
      const told = await broker.tell(components, strict);
      assert.deepEqual(told.map((line) => line.replace(/ \w+=1$/, '')).sort(), found, JSON.stringify(components));
    }
    assert.equal((await broker.tell()).length, 9);
  });

  const wrongFilters: readonly (readonly [Component[], RegExp])[] = [
    [
      [
        ['ip', 2, null],
        ['user', 2, null],
      ],
      /^INVALID_REQUEST Invalid entity filter component combination/,
    ],
    [
      [
        ['user', 2, null],
        ['user', 2, null],
      ],
      /^INVALID_REQUEST Duplicate user/,
    ],
    [[['', 2, null]], /^INVALID_REQUEST Unexpected empty/],
    [[['rack', 2, null]], /^UNSUPPORTED_VERSION Custom entity type 'rack'/],
    [[['user', 0, null]], /^INVALID_REQUEST .*MATCH_TYPE_EXACT/],
    [[['user', 1, 'u']], /^INVALID_REQUEST .*MATCH_TYPE_DEFAULT/],
    [[['user', 2, 'u']], /^INVALID_REQUEST .*MATCH_TYPE_ANY/],
    [[['user', 3, null]], /^INVALID_REQUEST Unknown match type 3/],
  ];
  for (const [components, says] of wrongFilters) {
    it(`are not told for the filter ${JSON.stringify(components)}`, async () => {
      assert.match(String(await broker.tell(components)), says);
      const components1 = components.map(([entityType, matchType, match]) => ({ entityType, matchType, match }));
      const answer = await callHandler(describeClientQuotasHandler(broker), 1, { components: components1, strict: false });
      assert.equal(answer.entries, null);
    });
  }

  const refused: readonly (readonly [Names, Ops, RegExp])[] = [
    [{}, { producer_byte_rate: 1 }, /^INVALID_REQUEST Invalid empty/],
    [{ user: '' }, { producer_byte_rate: 1 }, /^INVALID_REQUEST Empty user/],
    [{ rack: 'a' }, { producer_byte_rate: 1 }, /^INVALID_REQUEST Unhandled client quota entity type: rack/],
    [{ user: 'u', ip: '1.2.3.4' }, { producer_byte_rate: 1 }, /^INVALID_REQUEST Invalid quota entity combination/],
    [{ ip: '1.2.3' }, { connection_creation_rate: 1 }, /^INVALID_REQUEST 1.2.3 is not a valid IP/],
    [{ ip: 'nohost.invalid' }, { connection_creation_rate: 1 }, /^INVALID_REQUEST nohost.invalid is not a valid IP/],
    [{ user: 'u' }, { connection_creation_rate: 1 }, /^INVALID_REQUEST Invalid configuration key connection_creation_rate/],
    [{ user: 'u' }, { 'SCRAM-SHA-256': 1 }, /^INVALID_REQUEST Invalid configuration key SCRAM-SHA-256/],
    [{ ip: '::1' }, { producer_byte_rate: 1 }, /^INVALID_REQUEST Invalid configuration key producer_byte_rate/],
    [
      { user: 'u' },
      { consumer_byte_rate: 1, producer_byte_rate: 1.5 },
      /^INVALID_REQUEST producer_byte_rate cannot be a fractional value/,
    ],
    [{ user: 'u' }, { producer_byte_rate: 0 }, /^INVALID_REQUEST Quota producer_byte_rate must be greater than 0/],
    [{ user: 'u' }, { request_percentage: -1 }, /^INVALID_REQUEST Quota request_percentage must be greater than 0/],
    [{ user: 'u' }, { producer_byte_rate: 2 ** 64 }, /^INVALID_REQUEST .*too large for a LONG/],
    [
      { user: 'u' },
      { request_percentage: Number.POSITIVE_INFINITY },
      /^INVALID_REQUEST Quota request_percentage must be a finite number/,
    ],
    [{ ip: '::1' }, { connection_creation_rate: 2 ** 31 }, /^INVALID_REQUEST .*too large for an INT/],
    [
      { ip: '::1' },
      { connection_creation_rate: Number.NaN },
      /^INVALID_REQUEST Quota connection_creation_rate must be a finite number/,
    ],
  ];
  for (const [names, ops, says] of refused) {
    it(`refuse ${JSON.stringify(names)} ${JSON.stringify(ops)}`, async () => {
      assert.match(await broker.alter(names, ops), says);
      assert.match(await broker.alter(names, ops, true), says);
      assert.deepEqual(await broker.tell(), []);
    });
  }

  it('are only looked at when that is asked', async () => {
    assert.equal(await broker.alter({ user: 'u' }, { producer_byte_rate: 1 }, true), 'NONE');
    assert.deepEqual(await broker.tell(), []);
    assert.equal(await broker.coordination.exists('/config/users/u'), undefined);
  });

  it('change one by one, and hold at once', async () => {
    await broker.alter({ user: 'u' }, { producer_byte_rate: 1, consumer_byte_rate: 2 });
    assert.equal(broker.clientQuotas.limits.ofClient('producer_byte_rate', 'u', 'c')?.perSecond, 1);
    await broker.alter({ user: 'u' }, { producer_byte_rate: null, request_percentage: 3.5 });
    assert.deepEqual(await broker.tell(), ['user=u consumer_byte_rate=2 request_percentage=3.5']);
    assert.equal(broker.clientQuotas.limits.ofClient('producer_byte_rate', 'u', 'c'), undefined);
    await broker.alter({ user: 'u' }, { consumer_byte_rate: null, request_percentage: null, controller_mutation_rate: null });
    assert.deepEqual(await broker.tell(), []);
    assert.equal(broker.clientQuotas.limits.limitsClients, false);
  });

  it('leave the credentials of a user alone', async () => {
    const node = { type: 'users', path: 'u' } as const;
    const credential = 'salt=a,stored_key=b,server_key=c,iterations=4096';
    assert.ok(await tryWriteConfigs(broker.coordination, node, new Map([['SCRAM-SHA-256', credential]]), undefined));
    await broker.alter({ user: 'u' }, { producer_byte_rate: 7, 'SCRAM-SHA-256': null });
    const { data } = await broker.coordination.get('/config/users/u');
    assert.deepEqual(Object.fromEntries(configNode.decode('u', data)), { producer_byte_rate: '7', 'SCRAM-SHA-256': credential });
    assert.deepEqual(await broker.tell(), ['user=u producer_byte_rate=7']);
  });

  it('of a host are for its address', async () => {
    await broker.alter({ ip: 'host.example' }, { connection_creation_rate: 4 });
    await broker.alter({ ip: '0:0:0:0:0:ffff:a00:1' }, { connection_creation_rate: 5 });
    const { limits } = broker.clientQuotas;
    assert.deepEqual(
      ['10.0.0.9', '10.0.0.1', '10.0.0.2'].map((ip) => limits.ofAddress(ip)),
      [4, 5, undefined],
    );
    assert.deepEqual(await broker.tell(), [
      'ip=0:0:0:0:0:ffff:a00:1 connection_creation_rate=5',
      'ip=host.example connection_creation_rate=4',
    ]);
  });

  it('that make no sense are left out, and the others hold', async () => {
    const write = (path: string, text: string) =>
      tryWriteConfigs(broker.coordination, { type: 'users', path }, new Map([['producer_byte_rate', text]]), undefined);
    await write('good', '5');
    await write('bad', 'much');
    await write('%E0%A4%A', '6');
    assert.deepEqual(await broker.tell(), ['user=good producer_byte_rate=5']);
  });

  it('are altered once each, in the order of the request', async () => {
    const entity = [{ entityType: 'user', entityName: 'u' }];
    const op = (value: number) => ({ key: 'producer_byte_rate', value, remove: false });
    const errors = await broker.clientQuotas.alter(
      [
        { entity, ops: [op(1)] },
        { entity: [...entity, ...entity], ops: [op(2)] },
        { entity, ops: [op(3), op(4)] },
        { entity, ops: [op(5)] },
      ],
      false,
    );
    assert.deepEqual(
      errors.map((error) => error?.message),
      [
        undefined,
        'Invalid client quota entity, duplicate entity entry user',
        'Duplicate quota key producer_byte_rate given as quota alteration',
        undefined,
      ],
    );
    assert.deepEqual(await broker.tell(), ['user=u producer_byte_rate=5']);
  });
});

for (const version of [0, 1]) {
  it(`version ${version} alters and describes`, async () => {
    const broker = await startQuotaBroker(version);
    assert.equal(await broker.alter({ user: 'u', 'client-id': null }, { producer_byte_rate: 9 }), 'NONE');
    assert.deepEqual(await broker.tell(), ['user=u client-id=* producer_byte_rate=9']);
    await broker.stop();
  });
}

describe('another broker', () => {
  it('knows the quotas from its start on, and what changes by what is announced', async () => {
    const one = await startOneBroker();
    const first = await QuotaBroker.start(one.coordination, one);
    await first.alter({ user: 'u', 'client-id': 'c' }, { producer_byte_rate: 1 });
    await first.alter({ ip: '10.0.0.1' }, { connection_creation_rate: 2 });
    const second = await QuotaBroker.start(one.coordination, one);
    const told = ['ip=10.0.0.1 connection_creation_rate=2', 'user=u client-id=c producer_byte_rate=1'];
    assert.deepEqual(await second.tell(), told);
    await first.alter({ 'client-id': 'c' }, { producer_byte_rate: 3 });
    assert.deepEqual(await second.tell(), ['client-id=c producer_byte_rate=3', ...told]);
    await first.alter({ 'client-id': 'c' }, { producer_byte_rate: null });
    assert.deepEqual(await second.tell(), told);
    for (const broker of [first, second]) broker.close();
    await one.close();
  });

  it('reads everything again after it has lost its session', async () => {
    const one = await startOneBroker();
    const first = await QuotaBroker.start(one.coordination, one);
    await first.alter({ user: 'gone' }, { producer_byte_rate: 1 });
    const second = await QuotaBroker.start(one.coordination, one);
    // What happens to the tree without a word about it.
    await one.coordination.delete('/config/users/gone');
    await one.coordination.create('/config/users/new', configNode.encode(new Map([['producer_byte_rate', '2']])));
    await second.configChanges.sessionRenewed();
    assert.deepEqual(await second.tell(), ['user=new producer_byte_rate=2']);
    assert.equal(second.clientQuotas.limits.ofClient('producer_byte_rate', 'gone', ''), undefined);
    for (const broker of [first, second]) broker.close();
    await one.close();
  });
});
