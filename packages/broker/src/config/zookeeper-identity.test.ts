import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BrokerConfig } from '../broker-config.ts';
import { zookeeperIdentity } from './zookeeper-identity.ts';

const local = ['listeners', 'PLAINTEXT://127.0.0.1:9092'] as const;
const setting = 'odradek.zookeeper.sasl.jaas.config';

function configOf(...entries: readonly (readonly [string, string])[]): BrokerConfig {
  return new BrokerConfig(new Map([local, ...entries]));
}

describe('the broker’s name for ZooKeeper', () => {
  const readings: [text: string, username: string, password: string][] = [
    ['org.apache.zookeeper.server.auth.DigestLoginModule required username="kafka" password="secret";', 'kafka', 'secret'],
    ['DigestLoginModule required\n  password=secret\n  username=kafka ;\n', 'kafka', 'secret'],
    ['DigestLoginModule required username="a \\"b\\"" password="c;d=\\\\";', 'a "b"', 'c;d=\\'],
  ];
  for (const [text, username, password] of readings) {
    it(`is read from ${JSON.stringify(text)}`, () => {
      const config = configOf([setting, text]);
      assert.deepEqual(zookeeperIdentity(config.get.bind(config)), { sasl: { username, password } });
    });
  }

  it('is nobody by default', () => {
    const config = configOf();
    assert.deepEqual(zookeeperIdentity(config.get.bind(config)), {});
  });

  const refusals: [name: string, entries: [string, string][], message: RegExp][] = [
    ['another module', [[setting, 'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;']], /must read/],
    ['no password', [[setting, 'DigestLoginModule required username="kafka";']], /must read/],
    ['no end', [[setting, 'DigestLoginModule required username="kafka" password="x"']], /must read/],
    [
      'access lists without a name',
      [
        ['zookeeper.connect', 'zk'],
        ['zookeeper.set.acl', 'true'],
      ],
      /^zookeeper\.set\.acl is true, but/,
    ],
  ];
  for (const [name, entries, message] of refusals) {
    it(`is refused with ${name}`, () => assert.throws(() => configOf(...entries), { message }));
  }

  it('may be that of a certificate', () => {
    configOf(
      ['zookeeper.connect', 'zk'],
      ['zookeeper.set.acl', 'true'],
      ['zookeeper.ssl.client.enable', 'true'],
      ['zookeeper.ssl.keystore.location', '/etc/key.pem'],
    );
  });
});
