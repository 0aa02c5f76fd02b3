import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { goldenDirectory } from '@odradek/testing';
import { errorByCode, errorCodes, ProtocolError } from './error-codes.ts';

const golden = goldenDirectory();

for (const release of ['3.9', '4.4']) {
  test(`codes, names and what is retriable are those of Kafka ${release}`, {
    skip: golden === undefined && 'no golden facts',
  }, () => {
    const lines = readFileSync(join(golden ?? '', 'misc', `errors-${release}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n');
    for (const line of lines) {
      const fact = JSON.parse(line) as { name: string; code: number; retriable: boolean };
      const { name, code, isRetriable } = errorByCode(fact.code);
      assert.deepEqual({ name, code, retriable: isRetriable }, { name: fact.name, code: fact.code, retriable: fact.retriable });
    }
    if (release === '4.4') assert.equal(Object.keys(errorCodes).length, lines.length);
  });
}

test('every code has a sentence of its own', () => {
  const messages = Object.values(errorCodes).map((code) => errorByCode(code).message);
  assert.equal(new Set(messages).size, messages.length);
  for (const message of messages) assert.match(message, /^[A-Z].*\.$/);
});

test('a code that is in no table counts as an unknown server error', () => {
  assert.equal(errorByCode(9999).name, 'UNKNOWN_SERVER_ERROR');
});

test('a protocol error carries its code and speaks for it', () => {
  const error = new ProtocolError(errorCodes.NOT_LEADER_OR_FOLLOWER);
  assert.equal(error.code, 6);
  assert.equal(error.codeName, 'NOT_LEADER_OR_FOLLOWER');
  assert.ok(error.isRetriable);
  assert.equal(error.message, errorByCode(6).message);
  assert.equal(new ProtocolError(errorCodes.INVALID_REQUEST, 'Say why.').message, 'Say why.');
});
