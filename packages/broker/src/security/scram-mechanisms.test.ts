import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { goldenDirectory } from '@odradek/testing';
import { parseScramCredential, printScramCredential, scramCredential, scramMechanisms } from './scram-mechanisms.ts';

interface Exchange {
  readonly mechanism: string;
  readonly iterations: number;
  readonly salt: string;
  readonly saltedPassword: string;
  readonly credentialString: string;
}

const directory = goldenDirectory();

describe('a SCRAM credential', () => {
  it('is, byte for byte, what Kafka keeps for the same password', { skip: directory === undefined && 'no golden facts' }, () => {
    const lines = readFileSync(join(directory ?? '', 'misc', 'scram.jsonl'), 'utf8')
      .trim()
      .split('\n');
    assert.equal(lines.length, 20);
    for (const line of lines) {
      const { mechanism: name, iterations, ...texts } = JSON.parse(line) as Exchange;
      const mechanism = scramMechanisms.find((known) => known.name === name);
      assert.ok(mechanism !== undefined, name);
      const [salt, saltedPassword] = [Buffer.from(texts.salt, 'base64'), Buffer.from(texts.saltedPassword, 'base64')];
      const credential = scramCredential(mechanism, { salt, saltedPassword, iterations });
      assert.equal(printScramCredential(credential), texts.credentialString);
      assert.deepEqual(parseScramCredential(texts.credentialString), credential);
    }
  });

  const unreadable = [
    '',
    'salt=AA==',
    'salt=AA==,stored_key=AA==,server_key=AA==',
    'salt=AA==,stored_key=AA==,server_key=AA==,iterations=many',
    'salt=A!==,stored_key=AA==,server_key=AA==,iterations=4096',
    'salt=AA==,stored_key=AA==,server_key=AA==,iterations=4096,iterations=4096',
    'salt=AA==,stored_key=AA==,server=AA==,iterations=4096',
  ];
  for (const text of unreadable) it(`is not “${text}”`, () => assert.equal(parseScramCredential(text), undefined));
});
