import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseProperties } from '@odradek/runtime';
import { SimulatedDisk } from '@odradek/testing';
import { BrokerConfig } from '../broker-config.ts';
import { zookeeperTls, zookeeperTlsProblems } from './zookeeper-tls.ts';

function settingsOf(...lines: readonly string[]) {
  const config = new BrokerConfig(parseProperties(lines.join('\n')));
  return config.get.bind(config);
}

const disk = new SimulatedDisk();
disk.makeDirectorySync('/etc');
for (const name of ['key.pem', 'key.p12', 'trust.pem', 'odd']) disk.replaceFileSync(`/etc/${name}`, name);

describe('zookeeper.ssl.*', () => {
  it('gives Kafka’s defaults: TLS 1.2 alone, the usual authorities, and a look at the name', () => {
    assert.deepEqual(zookeeperTls(settingsOf('zookeeper.ssl.client.enable=true'), disk), {
      oldestVersion: 'TLSv1.2',
      newestVersion: 'TLSv1.2',
      verifiesHost: true,
    });
  });

  it('reads the files that it names, in the format of their ending or the one that is said', () => {
    const read = (...lines: string[]) => zookeeperTls(settingsOf('zookeeper.ssl.client.enable=true', ...lines), disk);
    const pem = read('zookeeper.ssl.keystore.location=/etc/key.pem', 'zookeeper.ssl.truststore.location=/etc/trust.pem');
    assert.deepEqual([pem.certificate?.toString(), pem.key?.toString(), String(pem.trusted)], ['key.pem', 'key.pem', 'trust.pem']);
    const pkcs12 = read('zookeeper.ssl.keystore.location=/etc/key.p12', 'zookeeper.ssl.keystore.password=secret');
    assert.deepEqual([pkcs12.keyStore?.toString(), pkcs12.key, pkcs12.password], ['key.p12', undefined, 'secret']);
    const said = read('zookeeper.ssl.keystore.location=/etc/odd', 'zookeeper.ssl.keystore.type=pkcs12');
    assert.equal(said.keyStore?.toString(), 'odd');
  });

  it('offers the versions from the oldest to the newest that is listed', () => {
    const { oldestVersion, newestVersion, verifiesHost, ciphers } = zookeeperTls(
      settingsOf(
        'zookeeper.ssl.enabled.protocols=TLSv1.3,TLSv1.2',
        'zookeeper.ssl.endpoint.identification.algorithm=',
        'zookeeper.ssl.cipher.suites=TLS_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256',
      ),
      disk,
    );
    assert.deepEqual([oldestVersion, newestVersion, verifiesHost], ['TLSv1.2', 'TLSv1.3', false]);
    assert.equal(ciphers, 'TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256');
  });

  it('is no problem as long as TLS is off', () => {
    const get = settingsOf('zookeeper.ssl.truststore.location=/etc/trust.jks', 'zookeeper.ssl.crl.enable=true');
    assert.deepEqual(zookeeperTlsProblems(get), []);
  });
});
