import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  ApiVersionsRequest,
  ApiVersionsResponse,
  errorCodes,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { ConfigError } from '@odradek/runtime';
import { InProcessBroker, RawClient } from '@odradek/testing';
import { startBroker } from './broker.ts';
import { batchOf, createTopic, fetchOne, produceOne } from './handlers/broker-requests.fixture.ts';

const directories: string[] = [];
after(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'odradek-test-'));
  directories.push(directory);
  return directory;
}

const clusterOf = async (client: RawClient): Promise<string | null> =>
  (await client.send(MetadataRequest, MetadataResponse, 12, { topics: [] })).clusterId;

test('two brokers live in one process and know nothing of each other', async () => {
  await using one = await InProcessBroker.start();
  await using other = await InProcessBroker.start();
  const [clientOfOne, clientOfOther] = [await one.client(), await other.client()];
  await createTopic(clientOfOne, 'mine');
  assert.notEqual(await clusterOf(clientOfOne), await clusterOf(clientOfOther));
  const { topics } = await clientOfOther.send(MetadataRequest, MetadataResponse, 12, { topics: null });
  assert.deepEqual(topics, []);
});

test('after a restart everything is there, under the same cluster id', async () => {
  const dataDirectory = temporaryDirectory();
  let clusterId: string | null;
  {
    await using first = await InProcessBroker.start({ dataDirectory });
    const client = await first.client();
    clusterId = await clusterOf(client);
    await createTopic(client, 'kept', { partitions: 3 });
    assert.equal((await produceOne(client, 'kept', batchOf('a', 'b'), { partition: 1 })).baseOffset, 0);
  }
  await using second = await InProcessBroker.start({ dataDirectory });
  const client = await second.client();
  assert.equal(await clusterOf(client), clusterId);
  assert.deepEqual((await fetchOne(client, 'kept', 0, { partition: 1 })).values, ['a', 'b']);
  assert.equal((await produceOne(client, 'kept', batchOf('c'), { partition: 1 })).baseOffset, 2);
});

test('the line at the start says address, directory and time taken', async () => {
  await using broker = await InProcessBroker.start();
  const line = broker.log.split('\n').find((text) => text.includes('is ready')) ?? '';
  assert.match(line, new RegExp(`127\\.0\\.0\\.1:${broker.port}`));
  assert.match(line, /directories=.*tookMs=\d+/);
});

test('a port or a data directory that is in use stops the start with an error that names it', async () => {
  const dataDirectory = temporaryDirectory();
  await using running = await InProcessBroker.start({ dataDirectory });
  await assert.rejects(
    InProcessBroker.start({ properties: { listeners: `PLAINTEXT://127.0.0.1:${running.port}` } }),
    (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE',
  );
  await assert.rejects(
    InProcessBroker.start({ dataDirectory }),
    (error: unknown) => error instanceof Error && error.message.includes(dataDirectory),
  );
});

test('a start that is not wanted any more ends with an error, and its directory is free', async () => {
  const dataDirectory = temporaryDirectory();
  const properties = { 'broker.id': 0, listeners: 'PLAINTEXT://127.0.0.1:0', 'log.dirs': dataDirectory };
  const options = { properties, log: { level: 'error' } };
  await assert.rejects(startBroker({ ...options, signal: AbortSignal.abort() }), { name: 'AbortError' });
  const stopping = new AbortController();
  const starting = startBroker({ ...options, signal: stopping.signal });
  stopping.abort();
  await assert.rejects(starting, { name: 'AbortError' });
  await using _ = await InProcessBroker.start({ dataDirectory });
});

for (const { name, properties, expected } of [
  { name: 'a value that is none', properties: { 'num.partitions': 'many' }, expected: /num\.partitions/ },
  { name: 'a value out of range', properties: { 'socket.request.max.bytes': 0 }, expected: /socket\.request\.max\.bytes/ },
  {
    name: 'a listener of a security protocol that is not offered yet',
    properties: { listeners: 'SASL_SSL://127.0.0.1:0', 'security.inter.broker.protocol': 'SASL_SSL' },
    expected: /SASL_SSL/,
  },
]) {
  test(`${name} stops the start with one clear line`, async () => {
    await assert.rejects(
      InProcessBroker.start({ properties }),
      (error: unknown) => error instanceof ConfigError && expected.test(error.message) && !error.message.includes('\n'),
    );
  });
}

test('a level or a format of the log that is none stops the start, too', async () => {
  const properties = { listeners: 'PLAINTEXT://127.0.0.1:0', 'log.dirs': temporaryDirectory() };
  for (const log of [{ level: 'loud' }, { format: 'xml' }]) {
    await assert.rejects(
      startBroker({ properties, log }),
      /^ConfigError: Invalid value (loud|xml) for configuration odradek\.log\./,
    );
  }
});

test('a setting without a value is one that is not set', async () => {
  const absent = { 'broker.rack': undefined, 'num.partitions': null } as unknown as Record<string, string>;
  await using _ = await InProcessBroker.start({ properties: absent });
});

test('each listener tells its own address', async () => {
  await using broker = await InProcessBroker.start({
    properties: {
      listeners: 'INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0',
      'advertised.listeners': 'INSIDE://127.0.0.1:0,OUTSIDE://example.test:1234',
      'listener.security.protocol.map': 'INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT',
      'inter.broker.listener.name': 'INSIDE',
    },
  });
  for (const { listener, host, port } of [
    { listener: 'INSIDE', host: '127.0.0.1', port: broker.broker.address('INSIDE').port },
    { listener: 'OUTSIDE', host: 'example.test', port: 1234 },
  ]) {
    const client = await broker.client({ port: broker.broker.address(listener).port });
    const { brokers } = await client.send(MetadataRequest, MetadataResponse, 9, { topics: [] });
    assert.deepEqual(
      brokers.map(({ nodeId, host: told, port: toldPort }) => ({ nodeId, host: told, port: toldPort })),
      [{ nodeId: 0, host, port }],
    );
  }
});

test('a connection too many from one address is refused', async () => {
  await using broker = await InProcessBroker.start({ properties: { 'max.connections.per.ip': 2 } });
  const [first] = [await broker.client(), await broker.client()];
  const third = await broker.client();
  await third.closed;
  assert.equal((await first.send(ApiVersionsRequest, ApiVersionsResponse, 0, {})).errorCode, errorCodes.NONE);
  assert.match(broker.log, /too many from this address/);
});

test('beyond max.connections the next one waits until another goes', async () => {
  await using broker = await InProcessBroker.start({ properties: { 'max.connections': 1 } });
  const first = await broker.client();
  assert.equal((await first.send(ApiVersionsRequest, ApiVersionsResponse, 0, {})).errorCode, errorCodes.NONE);
  const second = await broker.client();
  let isAnswered = false;
  const answer = second.send(ApiVersionsRequest, ApiVersionsResponse, 0, {}).then((body) => {
    isAnswered = true;
    return body;
  });
  await first.send(ApiVersionsRequest, ApiVersionsResponse, 0, {});
  assert.equal(isAnswered, false);
  await first.close();
  assert.equal((await answer).errorCode, errorCodes.NONE);
});

test('a frame larger than allowed closes the connection, and the log says whose', async () => {
  await using broker = await InProcessBroker.start({ properties: { 'socket.request.max.bytes': 1000 } });
  const client = await broker.client();
  const size = Buffer.alloc(4);
  size.writeInt32BE(1001);
  client.write([size]);
  await client.closed;
  assert.match(broker.log, /1001 bytes exceeds the limit of 1000.*client=127\.0\.0\.1/);
});

test('a peer that ends its side after the last request still gets the answer', async () => {
  await using broker = await InProcessBroker.start();
  const socket = connect({ port: broker.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff]));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  assert.equal(Buffer.concat(chunks).readInt32BE(4), 7);
});

test('with room for few request bytes, many producers still all get through', async () => {
  await using broker = await InProcessBroker.start({
    properties: { 'queued.max.request.bytes': 10_000, 'socket.request.max.bytes': 10_000 },
  });
  const creator = await broker.client();
  await createTopic(creator, 'busy');
  const records = batchOf('x'.repeat(5_000));
  const request = { acks: 1, timeoutMs: 10_000, topicData: [{ name: 'busy', partitionData: [{ index: 0, records }] }] };
  const clients = await Promise.all(Array.from({ length: 8 }, () => broker.client()));
  const answers = await Promise.all(
    clients.flatMap((client) => Array.from({ length: 10 }, () => client.send(ProduceRequest, ProduceResponse, 9, request))),
  );
  const offsets = answers.map(({ responses }) => responses[0]?.partitionResponses[0]?.baseOffset ?? -1);
  assert.deepEqual(
    offsets.sort((a, b) => a - b),
    Array.from({ length: 80 }, (_, index) => index),
  );
});

test('a fetch that waits is answered when the broker stops', async () => {
  const broker = await InProcessBroker.start();
  const client = await RawClient.connect({ port: broker.port });
  await createTopic(client, 'quiet');
  const fetched = fetchOne(client, 'quiet', 0, { maxWaitMs: 60_000 });
  // Another connection has come and gone: the fetch, sent before, has arrived.
  const other = await RawClient.connect({ port: broker.port });
  await clusterOf(other);
  await other.close();
  await broker.close();
  assert.equal((await fetched).errorCode, errorCodes.NONE);
  await client.closed;
});

test('a broker does not begin anew while the directory that may hold its topics cannot be used', async () => {
  const [one, other] = [temporaryDirectory(), temporaryDirectory()];
  const properties = { 'log.dirs': `${one},${other}` };
  {
    await using first = await InProcessBroker.start({ properties });
    await createTopic(await first.client(), 'kept', { partitions: 4 });
  }
  renameSync(one, `${one}-away`);
  writeFileSync(one, 'not a directory');
  await assert.rejects(InProcessBroker.start({ properties }), /coordination journal may be there/);
  rmSync(one);
  renameSync(`${one}-away`, one);
  await using again = await InProcessBroker.start({ properties });
  const { topics } = await (await again.client()).send(MetadataRequest, MetadataResponse, 12, { topics: null });
  assert.deepEqual(
    topics.map(({ name, partitions }) => [name, partitions.length]),
    [['kept', 4]],
  );
});

test('a listener may have a limit of its own, and takes connections again when it is raised', async () => {
  await using broker = await InProcessBroker.start({ properties: { 'listener.name.plaintext.max.connections': 1 } });
  const first = await broker.client();
  assert.equal((await first.send(ApiVersionsRequest, ApiVersionsResponse, 0, {})).errorCode, errorCodes.NONE);
  const second = await broker.client();
  const answer = second.send(ApiVersionsRequest, ApiVersionsResponse, 0, {});
  const altered = await first.send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, {
    resources: [
      {
        resourceType: 4,
        resourceName: '',
        configs: [{ name: 'listener.name.plaintext.max.connections', configOperation: 0, value: '2' }],
      },
    ],
  });
  assert.deepEqual(
    altered.responses.map(({ errorCode }) => errorCode),
    [errorCodes.NONE],
  );
  assert.equal((await answer).errorCode, errorCodes.NONE);
});
