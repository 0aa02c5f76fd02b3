import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import {
  ApiVersionsRequest,
  ApiVersionsResponse,
  errorCodes,
  LeaderAndIsrRequest,
  LeaderAndIsrResponse,
  type Message,
  type MessageInit,
  StopReplicaRequest,
  StopReplicaResponse,
  UpdateMetadataRequest,
  UpdateMetadataResponse,
} from '@odradek/protocol';
import { goldenDirectory, InProcessBroker, type RawClient } from '@odradek/testing';

let broker: InProcessBroker;
let client: RawClient;

before(async () => {
  broker = await InProcessBroker.start();
  client = await broker.client();
});
after(() => broker.close());

const software = { clientSoftwareName: 'test', clientSoftwareVersion: '1.0' };

function ask(version: number, request: MessageInit<typeof ApiVersionsRequest> = {}): Promise<Message<typeof ApiVersionsResponse>> {
  return client.send(ApiVersionsRequest, ApiVersionsResponse, version, version >= 3 ? { ...software, ...request } : request);
}

interface Feature {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

interface Advertised {
  readonly apis: readonly { readonly key: number; readonly name: string; readonly min: number; readonly max: number }[];
}

test('every range begins where Kafka 3.9 begins and ends where Kafka 4.4 ends', async (t) => {
  const golden = goldenDirectory();
  if (golden === undefined) return t.skip('the golden facts are not here');
  const facts = JSON.parse(readFileSync(`${golden}/messages/api-versions.json`, 'utf8')) as {
    advertised: Record<string, Advertised>;
  };
  const rangesOf = (name: string) => new Map(facts.advertised[name]?.apis.map((api) => [api.key, api]));
  const [old, current] = [rangesOf('3.9.1-zookeeper-broker'), rangesOf('4.4.0-kraft-broker')];
  const { apiKeys } = await ask(3);
  assert.ok(apiKeys.length >= 19);
  for (const { apiKey, minVersion, maxVersion } of apiKeys) {
    const name = current.get(apiKey)?.name ?? old.get(apiKey)?.name;
    assert.equal(minVersion, old.get(apiKey)?.min ?? current.get(apiKey)?.min, `${name}: lowest version`);
    assert.equal(maxVersion, current.get(apiKey)?.max ?? old.get(apiKey)?.max, `${name}: highest version`);
  }
});

test('all versions offer the same, in the order of the keys', async () => {
  const first = await ask(0);
  assert.deepEqual(
    first.apiKeys,
    [...first.apiKeys].sort((a, b) => a.apiKey - b.apiKey),
  );
  for (let version = 1; version <= 5; version++) assert.deepEqual((await ask(version)).apiKeys, first.apiKeys);
});

test('what is finalized of Kafka 4.4 is what this broker has, in the same words', async (t) => {
  const golden = goldenDirectory();
  if (golden === undefined) return t.skip('the golden facts are not here');
  const facts = JSON.parse(readFileSync(`${golden}/messages/api-versions.json`, 'utf8')) as {
    advertised: Record<string, { features: { supported: readonly Feature[]; finalized: readonly Feature[] } }>;
  };
  const { supported, finalized } = facts.advertised['4.4.0-kraft-broker']?.features ?? { supported: [], finalized: [] };
  const answer = await ask(4);
  const has = (feature: Feature): boolean => ['group.version'].includes(feature.name);
  assert.deepEqual(
    answer.supportedFeatures.map(({ name, minVersion, maxVersion }) => ({ name, min: minVersion, max: maxVersion })),
    supported.filter(has),
  );
  assert.deepEqual(
    answer.finalizedFeatures.map(({ name, minVersionLevel, maxVersionLevel }) => ({
      name,
      min: minVersionLevel,
      max: maxVersionLevel,
    })),
    finalized.filter(has),
  );
  assert.equal(answer.finalizedFeaturesEpoch, 0);
});

test('clients of version 3 are not told of features that begin at 0, which some cannot read', async () => {
  const { supportedFeatures, finalizedFeatures } = await ask(3);
  assert.deepEqual([supportedFeatures, finalizedFeatures.map(({ name }) => name)], [[], ['group.version']]);
});

for (const { name, request, expected } of [
  { name: 'this broker in this cluster', request: () => ({ clusterId: broker.broker.clusterId, nodeId: 0 }), expected: 'NONE' },
  { name: 'any broker', request: () => ({ clusterId: null, nodeId: -1 }), expected: 'NONE' },
  { name: 'another broker', request: () => ({ clusterId: broker.broker.clusterId, nodeId: 1 }), expected: 'REBOOTSTRAP_REQUIRED' },
  { name: 'another cluster', request: () => ({ clusterId: 'elsewhere', nodeId: 0 }), expected: 'REBOOTSTRAP_REQUIRED' },
] as const) {
  test(`a client that looks for ${name}: ${expected}`, async () => {
    assert.equal((await ask(5, request())).errorCode, errorCodes[expected]);
  });
}

test('a client cannot pass for the controller', async () => {
  const { apiKeys } = await ask(3);
  for (const key of [4, 5, 6]) assert.ok(!apiKeys.some(({ apiKey }) => apiKey === key));
  const leaders = await client.send(LeaderAndIsrRequest, LeaderAndIsrResponse, 7, { controllerEpoch: 99 });
  const stops = await client.send(StopReplicaRequest, StopReplicaResponse, 4, { controllerEpoch: 99 });
  const metadata = await client.send(UpdateMetadataRequest, UpdateMetadataResponse, 8, { controllerEpoch: 99 });
  for (const { errorCode } of [leaders, stops, metadata]) assert.equal(errorCode, errorCodes.CLUSTER_AUTHORIZATION_FAILED);
});
