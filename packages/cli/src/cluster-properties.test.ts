import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planCluster } from './cluster-properties.ts';

function plan(given: Readonly<Record<string, string>>, count = 3): Record<string, string | undefined>[] {
  return planCluster(new Map(Object.entries(given)), count).brokers.map(({ id, properties }) => {
    assert.equal(properties.get('broker.id'), String(id));
    return Object.fromEntries(properties);
  });
}

test('brokers have numbers, ports and directories of their own', () => {
  assert.deepEqual(
    plan({}).map((each) => [each['broker.id'], each['listeners'], each['log.dirs']]),
    [0, 1, 2].map((id) => [String(id), `PLAINTEXT://127.0.0.1:${9092 + id}`, `./data/${id}`]),
  );
});

test('they count on from what is given', () => {
  const given = {
    'node.id': '4',
    'log.dirs': '/a/, /b',
    listeners: 'IN://:9000,OUT://[::1]:9100',
    'advertised.listeners': 'IN://x:9000,OUT://y:9100',
  };
  const [, second] = plan(given, 2);
  assert.equal(second?.['broker.id'], '5');
  assert.equal(second?.['node.id'], '5');
  assert.equal(second?.['log.dirs'], '/a/5,/b/5');
  assert.equal(second?.['listeners'], 'IN://:9002,OUT://[::1]:9102');
  assert.equal(second?.['advertised.listeners'], 'IN://x:9002,OUT://y:9102');
});

test('any free port stays that', () => {
  assert.deepEqual(
    plan({ listeners: 'PLAINTEXT://127.0.0.1:0' }).map(({ listeners }) => listeners),
    Array.from({ length: 3 }, () => 'PLAINTEXT://127.0.0.1:0'),
  );
});

for (const [count, replicas, inSync] of [
  [1, '1', '1'],
  [2, '2', '1'],
  [3, '3', '2'],
  [5, '3', '2'],
] as const) {
  test(`${count} brokers keep ${replicas} replicas`, () => {
    const [first] = plan({}, count);
    assert.equal(first?.['default.replication.factor'], replicas);
    assert.equal(first?.['offsets.topic.replication.factor'], replicas);
    assert.equal(first?.['transaction.state.log.replication.factor'], replicas);
    assert.equal(first?.['transaction.state.log.min.isr'], inSync);
  });
}

test('what is given goes before the defaults', () => {
  assert.equal(plan({ 'offsets.topic.replication.factor': '1' })[0]?.['offsets.topic.replication.factor'], '1');
});

for (const { name, given, expected } of [
  { name: 'a number that is none', given: { 'broker.id': '-1' }, expected: /broker\.id .* -1/ },
  {
    name: 'ports that meet',
    given: { listeners: 'A://:9092,B://:9094' },
    expected: /Brokers 0 and 1 would both listen on port 9094/,
  },
  { name: 'no directory', given: { 'log.dirs': ',' }, expected: /log\.dirs/ },
]) {
  test(`${name} is refused`, () => assert.throws(() => plan(given), { name: 'ConfigError', message: expected }));
}
