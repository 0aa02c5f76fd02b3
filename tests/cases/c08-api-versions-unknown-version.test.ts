// C08: ApiVersions in a version from the future is answered in the layout of version 0, and the connection goes on.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ApiVersionsRequest, ApiVersionsResponse, decodeMessage, MetadataRequest, MetadataResponse } from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, ConnectionClosedError, RawClient } from '@odradek/testing';
import { assertError } from './broker-conversation.ts';

/** A request header (version 2) and whatever follows it. */
function request(apiKey: number, apiVersion: number, correlationId: number, rest: readonly number[] = []): Buffer {
  const header = Buffer.alloc(8);
  header.writeInt16BE(apiKey, 0);
  header.writeInt16BE(apiVersion, 2);
  header.writeInt32BE(correlationId, 4);
  return Buffer.concat([header, Buffer.from([0, 3, 0x6f, 0x64, 0x72, 0, ...rest])]);
}

/** The body of ApiVersions 3 for a client "odr" "1". */
const bodyOfVersion3 = [4, 0x6f, 0x64, 0x72, 2, 0x31, 0];

describe('C08 ApiVersions with an unknown version', () => {
  let broker: BrokerUnderTest;
  let client: RawClient;
  before(async () => {
    broker = await brokerUnderTest();
  });
  after(() => broker?.close());

  async function connected(work: (client: RawClient) => Promise<void>): Promise<void> {
    client = await RawClient.connect({ host: broker.host, port: broker.port });
    try {
      await work(client);
    } finally {
      await client.close();
    }
  }

  function assertFallback(body: Buffer, correlationId: number): void {
    assert.equal(body.readInt32BE(0), correlationId, 'a response header of version 0');
    const answer = decodeMessage(ApiVersionsResponse, 0, body.subarray(4));
    assertError(answer.errorCode, 'UNSUPPORTED_VERSION');
    const own = answer.apiKeys.find((api) => api.apiKey === 18);
    assert.equal(own?.minVersion, 0);
    assert.ok((own?.maxVersion ?? 0) >= 3);
    // Nothing follows: 4 of the header, 2 of the error, 4 of the count, 6 for each API.
    assert.equal(body.length, 10 + 6 * answer.apiKeys.length);
  }

  for (const version of [127, 32767, -1]) {
    test(`version ${version}, then version 3 on the same connection`, () =>
      connected(async () => {
        assertFallback(await client.exchange([request(18, version, 77, bodyOfVersion3)]), 77);
        const answer = await client.send(ApiVersionsRequest, ApiVersionsResponse, 3, {
          clientSoftwareName: 'odr',
          clientSoftwareVersion: '1',
        });
        assertError(answer.errorCode, 'NONE');
        assert.ok(answer.apiKeys.length > 10);
        await client.send(MetadataRequest, MetadataResponse, 12, { topics: [] });
      }));
  }

  test('both requests in one packet are answered in order', () =>
    connected(async () => {
      const size = (body: Buffer): Buffer => {
        const bytes = Buffer.alloc(4);
        bytes.writeInt32BE(body.length);
        return Buffer.concat([bytes, body]);
      };
      const answers = [client.nextAnswer(), client.nextAnswer()] as const;
      client.write([Buffer.concat([size(request(18, 127, 1, bodyOfVersion3)), size(request(18, 3, 2, bodyOfVersion3))])]);
      assertFallback(await answers[0], 1);
      const second = await answers[1];
      assert.equal(second.readInt32BE(0), 2, 'ApiVersions always has a response header of version 0');
      assertError(decodeMessage(ApiVersionsResponse, 3, second.subarray(4)).errorCode, 'NONE');
    }));

  test('every version that is offered answers with the same ranges', () =>
    connected(async () => {
      const first = await client.send(ApiVersionsRequest, ApiVersionsResponse, 0, {});
      const max = first.apiKeys.find((api) => api.apiKey === 18)?.maxVersion ?? 0;
      for (let version = 1; version <= Math.min(max, 4); version++) {
        const answer = await client.send(ApiVersionsRequest, ApiVersionsResponse, version, {
          clientSoftwareName: 'odradek-test',
          clientSoftwareVersion: '1.0',
        });
        assertError(answer.errorCode, 'NONE');
        assert.deepEqual(answer.apiKeys, first.apiKeys, `version ${version}`);
      }
    }));

  for (const [name, version] of [
    ['', '1.0'],
    ['has spaces', '1.0'],
    ['-starts-with-a-hyphen', '1.0'],
    ['fine', ''],
    ['fine', 'ends-with-a-dot.'],
  ] as const) {
    test(`client software "${name}" "${version}" is an invalid request`, () =>
      connected(async () => {
        const answer = await client.send(ApiVersionsRequest, ApiVersionsResponse, 3, {
          clientSoftwareName: name,
          clientSoftwareVersion: version,
        });
        assertError(answer.errorCode, 'INVALID_REQUEST');
      }));
  }

  for (const { name, bytes } of [
    { name: 'Metadata in an unknown version', bytes: request(3, 99, 1) },
    { name: 'Produce in a negative version', bytes: request(0, -1, 1) },
    { name: 'an unknown API', bytes: request(9999, 0, 1) },
    { name: 'a negative API', bytes: request(-5, 0, 1) },
  ]) {
    test(`${name} closes the connection`, () =>
      connected(async () => {
        await assert.rejects(client.exchange([bytes]), ConnectionClosedError);
        await client.closed;
      }));
  }
});
