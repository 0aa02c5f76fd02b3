// The store against a real server that speaks TLS and wants to know its clients.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { TlsConnector } from '@odradek/runtime';
import {
  CertificateAuthority,
  findProgram,
  freePort,
  needed,
  type SignedCertificate,
  skipWithout,
  startZooKeeper,
  type ZooKeeperEnsemble,
  zooKeeperJars,
} from '@odradek/testing';
import { closeSessions, openSession } from './store.fixture.ts';

const jars = await zooKeeperJars();

describe('a ZooKeeper server with TLS', { skip: skipWithout(jars, findProgram('openssl')) }, () => {
  let directory: string;
  let authority: CertificateAuthority;
  let client: SignedCertificate;
  let ensemble: ZooKeeperEnsemble;
  let connect: string;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'odradek-certificates-'));
    authority = await CertificateAuthority.create(directory);
    const server = await authority.sign('zookeeper', ['IP:127.0.0.1']);
    client = await authority.sign('broker');
    const securePort = await freePort();
    connect = `127.0.0.1:${securePort}/tls`;
    ensemble = await startZooKeeper(needed(jars), {
      config: {
        secureClientPort: securePort,
        secureClientPortAddress: '127.0.0.1',
        serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
        'ssl.keyStore.location': server.path,
        'ssl.trustStore.location': authority.path,
      },
    });
  });
  after(async () => {
    await ensemble?.close();
    rmSync(directory, { recursive: true, force: true });
  });
  afterEach(closeSessions);

  const own = () => ({ certificate: client.certificate, key: client.key });

  it('is talked to over TLS, and knows the owner of nodes by the certificate', async () => {
    const trusted = authority.certificate;
    const session = await openSession(connect, { network: new TlsConnector({ trusted, ...own() }), setAcl: true });
    await session.create('/config', Buffer.from('x'));
    await session.create('/config/users', Buffer.alloc(300_000, 'u'));
    assert.equal((await session.get('/config/users')).data?.byteLength, 300_000);
    const other = await authority.sign('somebody');
    const stranger = await openSession(connect, {
      network: new TlsConnector({ trusted, certificate: other.certificate, key: other.key }),
    });
    assert.equal((await stranger.get('/config')).data?.toString(), 'x');
    await assert.rejects(stranger.get('/config/users'), { code: 'NoAuth' });
  });

  const refusals: [name: string, connector: () => TlsConnector, reason: RegExp][] = [
    ['its certificate is not trusted', () => new TlsConnector(own()), /certificate/],
    ['the client has no certificate', () => new TlsConnector({ trusted: authority.certificate }), /alert|ECONNRESET|closed/],
    [
      'the versions do not meet',
      () => new TlsConnector({ trusted: authority.certificate, ...own(), newestVersion: 'TLSv1.1', oldestVersion: 'TLSv1' }),
      /protocol/,
    ],
  ];
  for (const [name, connector, reason] of refusals) {
    it(`is not talked to when ${name}`, async () => {
      const opening = openSession(connect, { network: connector(), connectionTimeoutMs: 1000 });
      await assert.rejects(opening, (error: Error & { code?: string }) => {
        assert.equal(error.code, 'ConnectionLoss');
        assert.match(String(error.cause), reason);
        return true;
      });
    });
  }

  it('must be the host that was asked for, unless that is not to be checked', async () => {
    const trusted = authority.certificate;
    const byName = connect.replace('127.0.0.1', 'localhost');
    const opening = openSession(byName, { network: new TlsConnector({ trusted, ...own() }), connectionTimeoutMs: 1000 });
    await assert.rejects(opening, (error: Error) => /altnames/.test(String(error.cause)));
    await openSession(byName, { network: new TlsConnector({ trusted, ...own(), verifiesHost: false }) });
  });
});
