import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '@odradek/runtime';
import { formatAddress, parseConnectString, ServerRing } from './connect-string.ts';

describe('zookeeper.connect', () => {
  const readings: [text: string, servers: string[], chroot: string][] = [
    ['zk', ['zk:2181'], ''],
    ['zk:2182', ['zk:2182'], ''],
    ['a:1,b:2,c:3', ['a:1', 'b:2', 'c:3'], ''],
    [' a:1 , b:2/kafka/one ', ['a:1', 'b:2'], '/kafka/one'],
    ['a:1/', ['a:1'], ''],
    ['127.0.0.1:2181/kafka', ['127.0.0.1:2181'], '/kafka'],
    ['[::1]:2182,[fe80::2]', ['[::1]:2182', '[fe80::2]:2181'], ''],
    ['::1', ['[::1]:2181'], ''],
  ];
  for (const [text, servers, chroot] of readings) {
    it(`is read from "${text}"`, () => {
      const read = parseConnectString(text);
      assert.deepEqual(read.servers.map(formatAddress), servers);
      assert.equal(read.chroot, chroot);
    });
  }

  for (const text of [
    '',
    '/kafka',
    ',',
    'zk:0',
    'zk:65536',
    'zk:port',
    'zk:',
    'a:1/kafka/',
    'a:1//kafka',
    'a:1/../b',
    '[::1:2181',
  ]) {
    it(`is refused when it is "${text}"`, () => assert.throws(() => parseConnectString(text), Error));
  }
});

describe('the ring of servers', () => {
  const servers = ['a', 'b', 'c', 'd'].map((host) => ({ host, port: 1 }));

  it('goes round through all of them, in an order that differs from client to client', () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 20; seed++) {
      const ring = new ServerRing(servers, new SeededRandom(seed));
      const round = Array.from({ length: 4 }, () => ring.next().host);
      assert.deepEqual(
        Array.from({ length: 4 }, () => ring.next().host),
        round,
      );
      assert.deepEqual([...round].sort(), ['a', 'b', 'c', 'd']);
      orders.add(round.join(''));
    }
    assert.ok(orders.size > 10);
  });
});
