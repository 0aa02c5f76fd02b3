import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { goldenDirectory } from '@odradek/testing';
import { type Api, apiByKey, apis } from './api-keys.ts';
import { parseVersions } from './schema/versions.ts';

interface SchemaRow {
  readonly key: number;
  readonly name: string;
  readonly valid: string;
  readonly latestVersionUnstable: boolean;
}

const golden = goldenDirectory();
/** What exists only for a quorum of KRaft controllers and its brokers. */
const leftOut = new Set([52, 53, 54, 55, 59, 62, 63, 64, 70, 73, 80, 81, 82]);

test('versions reach from the lowest of Kafka 3.9 to the highest of 4.4', {
  skip: golden === undefined && 'no golden facts',
}, () => {
  const { schema } = JSON.parse(readFileSync(join(golden ?? '', 'messages', 'api-versions.json'), 'utf8')) as {
    schema: { '3.9': readonly SchemaRow[]; '4.4': readonly SchemaRow[] };
  };
  const keys = new Set([...schema['3.9'], ...schema['4.4']].map(({ key }) => key));
  for (const key of keys) {
    const api = apiByKey(key);
    assert.equal(api === undefined, leftOut.has(key), `key ${key}`);
    if (api === undefined) continue;
    const rows = [schema['3.9'], schema['4.4']].map((release) => release.find((row) => row.key === key));
    const ranges = rows.flatMap((row) => (row === undefined || row.valid === 'none' ? [] : [parseVersions(row.valid)]));
    assert.equal(api.versions.min, Math.min(...ranges.map(({ min }) => min)), `${api.name}: lowest`);
    assert.equal(api.versions.max, Math.max(...ranges.map(({ max }) => max)), `${api.name}: highest`);
    const stable = rows.flatMap((row) => {
      if (row === undefined || row.valid === 'none') return [];
      const { min, max } = parseVersions(row.valid);
      return row.latestVersionUnstable ? (max > min ? [{ min, max: max - 1 }] : []) : [{ min, max }];
    });
    assert.deepEqual(
      api.stableVersions,
      { min: Math.min(...stable.map(({ min }) => min)), max: Math.max(...stable.map(({ max }) => max)) },
      `${api.name}: stable`,
    );
  }
});

function known(key: number): Api {
  const api = apiByKey(key);
  assert.ok(api);
  return api;
}

test('request and response of an API belong together', () => {
  for (const api of apis) {
    assert.equal(api.request.name, `${api.name}Request`);
    assert.equal(api.response.name, `${api.name}Response`);
    assert.equal(api.response.apiKey, api.key);
    assert.deepEqual(api.response.versions, api.request.versions);
    assert.deepEqual(api.response.flexible, api.request.flexible);
    assert.equal(apiByKey(api.key), api);
  }
  assert.equal(apiByKey(-1), undefined);
  assert.equal(apiByKey(52), undefined);
  assert.equal(apiByKey(30_000), undefined);
});

test('headers are flexible where bodies are, with two exceptions', () => {
  assert.deepEqual(
    [11, 12].map((version) => known(1).requestHeaderVersion(version)),
    [1, 2],
  );
  assert.deepEqual(
    [11, 12].map((version) => known(1).responseHeaderVersion(version)),
    [0, 1],
  );
  assert.equal(known(1).flexibleFrom, 12);
  // SaslHandshake never became flexible.
  assert.equal(known(17).flexibleFrom, Number.POSITIVE_INFINITY);
  assert.equal(known(17).requestHeaderVersion(1), 1);
  // The answer to ApiVersions can be read by who does not know the broker yet.
  assert.deepEqual(
    [0, 3, 4].map((version) => known(18).responseHeaderVersion(version)),
    [0, 0, 0],
  );
  assert.equal(known(18).requestHeaderVersion(3), 2);
  // The oldest ControlledShutdown had no client id.
  assert.deepEqual(
    [0, 1, 3].map((version) => known(7).requestHeaderVersion(version)),
    [0, 1, 2],
  );
});
