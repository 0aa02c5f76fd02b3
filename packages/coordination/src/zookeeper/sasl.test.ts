// The store against a real server that knows its clients by SASL.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { needed, skipWithout, startZooKeeper, type ZooKeeperEnsemble, zooKeeperJars } from '@odradek/testing';
import { CuttableNetwork, closeSessions, openSession, reached } from './store.fixture.ts';

const jars = await zooKeeperJars();

const jaas = `Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required user_broker="secret" user_gärtner="blümchen" user_other="x";
};
`;

describe('a ZooKeeper server with SASL', { skip: skipWithout(jars) }, () => {
  let directory: string;
  let ensemble: ZooKeeperEnsemble;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'odradek-jaas-'));
    writeFileSync(join(directory, 'jaas.conf'), jaas);
    ensemble = await startZooKeeper(needed(jars), {
      config: {
        'authProvider.sasl': 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider',
        sessionRequireClientSASLAuth: true,
      },
      javaArguments: [`-Djava.security.auth.login.config=${join(directory, 'jaas.conf')}`, '-Dfile.encoding=UTF-8'],
    });
  });
  after(async () => {
    await ensemble?.close();
    rmSync(directory, { recursive: true, force: true });
  });
  afterEach(closeSessions);

  it('knows the owner of nodes by name, on every connection', async () => {
    const network = new CuttableNetwork();
    const sasl = { username: 'broker', password: 'secret' };
    const session = await openSession(`${ensemble.connect}/sasl`, { sasl, setAcl: true, network });
    await session.create('/config', Buffer.from('x'));
    await session.create('/config/users', Buffer.from('u'));
    const lost = reached(session, 'disconnected');
    network.cut();
    await lost;
    network.isCut = false;
    assert.equal((await session.get('/config/users')).data?.toString(), 'u');
    const other = await openSession(`${ensemble.connect}/sasl`, { sasl: { username: 'other', password: 'x' } });
    assert.equal((await other.get('/config')).data?.toString(), 'x');
    await assert.rejects(other.get('/config/users'), { code: 'NoAuth' });
  });

  it('knows names and passwords beyond ASCII', async () => {
    const session = await openSession(ensemble.connect, { sasl: { username: 'gärtner', password: 'blümchen' } });
    await session.exists('/');
  });

  it('does not take a wrong password', async () => {
    const sasl = { username: 'broker', password: 'wrong' };
    await assert.rejects(openSession(ensemble.connect, { sasl }), { code: 'AuthFailed' });
  });

  it('wants a name for everything', async () => {
    const session = await openSession(ensemble.connect);
    await assert.rejects(session.create('/nobody', null), { code: 'AuthFailed' });
  });
});
