import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accessListOf } from './access-lists.ts';

describe('access lists', () => {
  // As Apache Kafka 3.9 gives them with zookeeper.set.acl=true; "auth" is whoever creates the node.
  const secured: [path: string, list: string][] = [
    ['/', 'auth 31, anyone 1'],
    ['/brokers/topics/t', 'auth 31, anyone 1'],
    ['/config', 'auth 31, anyone 1'],
    ['/config/topics/t', 'auth 31, anyone 1'],
    ['/config/users', 'auth 31'],
    ['/config/users/alice', 'auth 31'],
    ['/config/users/alice/clients/c', 'auth 31'],
    ['/config/brokers/1', 'auth 31'],
    ['/delegation_token', 'auth 31, anyone 1'],
    ['/delegation_token/tokens/x', 'auth 31'],
    ['/kafka-acl/Topic/t', 'auth 31, anyone 1'],
    ['/consumers', 'anyone 31'],
    ['/consumers/group', 'auth 31, anyone 1'],
  ];
  const textOf = (path: string, secure: boolean): string =>
    accessListOf(path, secure)
      .map(({ scheme, id, permissions }) => `${scheme === 'world' ? id : scheme} ${permissions}`)
      .join(', ');

  for (const [path, list] of secured) {
    it(`let of ${path} only do: ${list}`, () => assert.equal(textOf(path, true), list));
    it(`let anyone do all with ${path} when they are off`, () => assert.equal(textOf(path, false), 'anyone 31'));
  }
});
