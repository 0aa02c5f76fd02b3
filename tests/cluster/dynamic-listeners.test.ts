// Brokers that are to be reached elsewhere from now on: listeners and advertised.listeners can be set while a broker runs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  DescribeConfigsRequest,
  DescribeConfigsResponse,
  errorByCode,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  MetadataRequest,
  MetadataResponse,
} from '@odradek/protocol';
import { type InProcessCluster, startCluster, until } from '@odradek/testing';

const moved = 1;
const [set, remove] = [0, 1];
let cluster: InProcessCluster;

before(async () => {
  cluster = await startCluster({ brokers: 2 });
});
after(() => cluster.close());

async function alter(values: Readonly<Record<string, string | null>>): Promise<string> {
  const configs = Object.entries(values).map(([name, value]) => ({ name, configOperation: value === null ? remove : set, value }));
  const request = { resources: [{ resourceType: 4, resourceName: String(moved), configs }] };
  const client = await cluster.client(moved);
  const { responses } = await client.send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, request);
  return errorByCode(responses[0]?.errorCode ?? -1).name;
}

const advertise = (value: string | null): Promise<string> => alter({ 'advertised.listeners': value });

/** Waits until both brokers tell that the broker is to be reached at the host. */
async function untilTold(host: string): Promise<void> {
  for (const id of cluster.brokerIds) {
    await until(`broker ${id} tells ${host}`, async () => {
      await using client = await cluster.client(id);
      const { brokers } = await client.send(MetadataRequest, MetadataResponse, 12, { topics: [] });
      return brokers.find(({ nodeId }) => nodeId === moved)?.host === host;
    });
  }
}

const portOf = (id: number): number => cluster.broker(id).address().port;

test('everyone is told the new address at once, and the one of the file when it is taken back', async () => {
  await untilTold('127.0.0.1');
  assert.equal(await advertise(`PLAINTEXT://localhost:${portOf(moved)}`), 'NONE');
  await untilTold('localhost');
  assert.equal(await advertise(null), 'NONE');
  await untilTold('127.0.0.1');
});

test('what cannot be is refused, and an address of another broker is not taken', async () => {
  for (const value of ['', 'OTHER://localhost:1', 'SSL://localhost:1', 'PLAINTEXT://0.0.0.0:1', 'PLAINTEXT://localhost'])
    assert.equal(await advertise(value), 'INVALID_REQUEST', value);
  assert.equal(await advertise(`PLAINTEXT://127.0.0.1:${portOf(0)}`), 'NONE');
  await until('the broker says so', () => cluster.log(moved).includes('The addresses of this broker stay as they are'));
  await untilTold('127.0.0.1');
  assert.equal(await advertise(null), 'NONE');
});

test('a listener can be added, through which its own addresses are told, and taken away again with its connections', async () => {
  const second = {
    listeners: `PLAINTEXT://127.0.0.1:${portOf(moved)},SECOND://127.0.0.1:0`,
    'advertised.listeners': `PLAINTEXT://localhost:0,SECOND://second.test:0`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SECOND:PLAINTEXT',
  };
  assert.equal(await alter({ ...second, 'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT' }), 'INVALID_REQUEST');
  assert.equal(await alter({ ...second, listeners: 'SECOND://127.0.0.1:0' }), 'INVALID_REQUEST');
  assert.equal(await alter(second), 'NONE');
  await untilTold('localhost');
  const { port } = cluster.broker(moved).address('SECOND');
  assert.notEqual(port, portOf(moved));
  const client = await cluster.client(moved, { port });
  await until('its address is told through it', async () => {
    const { brokers } = await client.send(MetadataRequest, MetadataResponse, 12, { topics: [] });
    return brokers.length === 1 && brokers[0]?.host === 'second.test' && brokers[0].port === port;
  });
  assert.equal(await alter({ listeners: null, 'advertised.listeners': null, 'listener.security.protocol.map': null }), 'NONE');
  await client.closed;
  await untilTold('127.0.0.1');
  assert.throws(() => cluster.broker(moved).address('SECOND'));
});

test('it holds in the next session, and after a restart', async () => {
  assert.equal(await advertise(`PLAINTEXT://localhost:0`), 'NONE');
  await untilTold('localhost');
  await cluster.expireSession(moved);
  await until('the broker registers again', () => cluster.log(moved).includes('is registered in a new session'));
  await untilTold('localhost');
  await cluster.stopBroker(moved);
  await cluster.startBroker(moved);
  await untilTold('localhost');
  const client = await cluster.client(moved);
  const resources = [{ resourceType: 4, resourceName: String(moved), configurationKeys: ['advertised.listeners'] }];
  const { results } = await client.send(DescribeConfigsRequest, DescribeConfigsResponse, 4, { resources });
  assert.equal(results[0]?.configs[0]?.value, 'PLAINTEXT://localhost:0');
});
