// DescribeUserScramCredentials and AlterUserScramCredentials.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Coordination, CoordinationError } from '@odradek/coordination';
import { errorByCode, errorCodes } from '@odradek/protocol';
import { startOneBroker } from '../admin/one-broker.fixture.ts';
import { callHandler } from '../requests/call-handler.fixture.ts';
import { ScramCredentials } from '../security/scram-credentials.ts';
import { describeUserScramCredentialsHandler } from './50-describe-user-scram-credentials.ts';
import { alterUserScramCredentialsHandler } from './51-alter-user-scram-credentials.ts';

const [sha256, sha512] = [1, 2];

interface Deletion {
  readonly name: string;
  readonly mechanism: number;
}

function upsertion(name: string, mechanism = sha256, iterations = 4096, saltedPassword = 'salted') {
  return { name, mechanism, iterations, salt: Buffer.from('salt'), saltedPassword: Buffer.from(saltedPassword) };
}

function handlersOn(coordination: Coordination, isActive = true) {
  const scramCredentials = new ScramCredentials(coordination);
  const alterHandler = alterUserScramCredentialsHandler({ scramCredentials, controller: () => ({ isActive }) });
  const describeHandler = describeUserScramCredentialsHandler({ scramCredentials });
  return {
    alter: async (deletions: readonly Deletion[], upsertions: readonly ReturnType<typeof upsertion>[]) => {
      const { results } = await callHandler(alterHandler, 0, { deletions, upsertions });
      return results.map(({ user, errorCode, errorMessage }) => outcome(user, errorCode, errorMessage));
    },
    describe: async (users: readonly string[] | null) => {
      const named = users === null ? null : users.map((name) => ({ name }));
      const { errorCode, results } = await callHandler(describeHandler, 0, { users: named });
      if (errorCode !== errorCodes.NONE) return errorByCode(errorCode).name;
      return results.map(({ user, errorCode: code, errorMessage, credentialInfos }) => {
        const infos = credentialInfos.map(({ mechanism, iterations }) => `${mechanism}:${iterations}`);
        return [outcome(user, code, errorMessage), ...infos].join(' ');
      });
    },
  };
}

function outcome(user: string, errorCode: number, message: string | null): string {
  return errorCode === errorCodes.NONE ? user : `${user} ${errorByCode(errorCode).name} ${message}`;
}

async function onOneBroker(
  act: (handlers: ReturnType<typeof handlersOn>, coordination: Coordination) => Promise<void>,
): Promise<void> {
  const { coordination, close } = await startOneBroker();
  try {
    await act(handlersOn(coordination), coordination);
  } finally {
    await close();
  }
}

describe('SCRAM credentials', () => {
  it('are set, replaced, told and deleted', () =>
    onOneBroker(async ({ alter, describe: tell }) => {
      assert.deepEqual(await tell(null), []);
      assert.deepEqual(await alter([], [upsertion('bob', sha512, 16_384), upsertion('bob', sha256), upsertion('alice')]), [
        'bob',
        'alice',
      ]);
      assert.deepEqual(await tell(null), ['alice 1:4096', 'bob 1:4096 2:16384']);
      assert.deepEqual(await tell([]), ['alice 1:4096', 'bob 1:4096 2:16384']);
      assert.deepEqual(await tell(['bob']), ['bob 1:4096 2:16384']);
      assert.deepEqual(await alter([{ name: 'bob', mechanism: sha512 }], [upsertion('bob', sha256, 5000)]), ['bob']);
      assert.deepEqual(await tell(['bob']), ['bob 1:5000']);
      assert.deepEqual(await alter([{ name: 'bob', mechanism: sha256 }], []), ['bob']);
      assert.deepEqual(await tell(null), ['alice 1:4096']);
    }));

  it('lie in the tree as Kafka writes them, beside other configs of the user, and every change is announced', () =>
    onOneBroker(async ({ alter, describe: tell }, coordination) => {
      await coordination.create('/config/users/b%40b', Buffer.from('{"version":1,"config":{"producer_byte_rate":"7"}}'));
      assert.deepEqual(await alter([], [upsertion('b@b')]), ['b@b']);
      const { data } = await coordination.get('/config/users/b%40b');
      const { version, config } = JSON.parse(String(data)) as { version: number; config: Record<string, string> };
      assert.deepEqual([version, config['producer_byte_rate']], [1, '7']);
      assert.match(config['SCRAM-SHA-256'] ?? '', /^salt=c2FsdA==,stored_key=[\w+/]{43}=,server_key=[\w+/]{43}=,iterations=4096$/);
      const { names } = await coordination.children('/config/changes');
      const changes = await Promise.all(names.map((name) => coordination.get(`/config/changes/${name}`)));
      assert.deepEqual(
        changes.map((change) => String(change.data)),
        ['{"version":2,"entity_path":"users/b%40b"}'],
      );
      await coordination.create('/config/users/<default>', Buffer.from('{"version":1,"config":{"producer_byte_rate":"7"}}'));
      await coordination.create('/config/users/quotas-only', Buffer.from('{"version":1,"config":{"producer_byte_rate":"7"}}'));
      assert.deepEqual(await tell(null), ['b@b 1:4096']);
    }));

  it('that stand in the tree and cannot be read are told as a fault of the server', () =>
    onOneBroker(async ({ describe: tell }, coordination) => {
      await coordination.create('/config/users/eve', Buffer.from('{"version":1,"config":{"SCRAM-SHA-256":"salt=?"}}'));
      assert.deepEqual(await tell(null), ['eve UNKNOWN_SERVER_ERROR A stored SCRAM credential of eve cannot be read']);
    }));

  it('are not lost when two change the same user at once', () =>
    onOneBroker(async ({ alter, describe: tell }) => {
      const both = await Promise.all([alter([], [upsertion('carol', sha256)]), alter([], [upsertion('carol', sha512)])]);
      assert.deepEqual(both, [['carol'], ['carol']]);
      assert.deepEqual(await tell(['carol']), ['carol 1:4096 2:4096']);
    }));
});

describe('what cannot be told', () => {
  const cases = [
    { users: [''], says: [' RESOURCE_NOT_FOUND Username must not be empty'] },
    { users: ['', ''], says: [' RESOURCE_NOT_FOUND Username must not be empty'] },
    { users: ['nobody'], says: ['nobody RESOURCE_NOT_FOUND Attempt to describe a user credential that does not exist: nobody'] },
    {
      users: ['alice', 'bob', 'alice'],
      says: [
        'alice DUPLICATE_RESOURCE Cannot describe SCRAM credentials for the same user twice in a single request: alice',
        'bob 1:4096',
      ],
    },
  ];
  for (const { users, says } of cases) {
    it(JSON.stringify(users), () =>
      onOneBroker(async ({ alter, describe: tell }) => {
        await alter([], [upsertion('alice'), upsertion('bob')]);
        assert.deepEqual(await tell(users), says);
      }),
    );
  }
});

describe('what cannot be altered', () => {
  const twice = 'DUPLICATE_RESOURCE A user credential cannot be altered twice in the same request';
  const cases: readonly {
    readonly name: string;
    readonly deletions?: readonly Deletion[];
    readonly upsertions?: readonly ReturnType<typeof upsertion>[];
    readonly says: readonly string[];
  }[] = [
    { name: 'nothing', says: [] },
    { name: 'no name, to set', upsertions: [upsertion('')], says: [' UNACCEPTABLE_CREDENTIAL Username must not be empty'] },
    {
      name: 'no name, to delete',
      deletions: [{ name: '', mechanism: 9 }],
      says: [' UNACCEPTABLE_CREDENTIAL Username must not be empty'],
    },
    {
      name: 'an unknown mechanism, to set',
      upsertions: [upsertion('u', 0, 1)],
      says: ['u UNSUPPORTED_SASL_MECHANISM Unknown SCRAM mechanism'],
    },
    {
      name: 'an unknown mechanism, to delete',
      deletions: [{ name: 'u', mechanism: 3 }],
      says: ['u UNSUPPORTED_SASL_MECHANISM Unknown SCRAM mechanism'],
    },
    { name: 'few', upsertions: [upsertion('u', sha256, 4095)], says: ['u UNACCEPTABLE_CREDENTIAL Too few iterations'] },
    { name: 'many', upsertions: [upsertion('u', sha512, 16_385)], says: ['u UNACCEPTABLE_CREDENTIAL Too many iterations'] },
    {
      name: 'an empty password',
      upsertions: [upsertion('u', sha512, 4096, '')],
      says: ['u UNACCEPTABLE_CREDENTIAL The salted password is empty'],
    },
    { name: 'set twice', upsertions: [upsertion('u'), upsertion('v'), upsertion('u')], says: [`u ${twice}`, 'v'] },
    {
      name: 'set and deleted',
      deletions: [{ name: 'known', mechanism: sha256 }],
      upsertions: [upsertion('known')],
      says: [`known ${twice}`],
    },
    {
      name: 'deleted and not there',
      deletions: [{ name: 'known', mechanism: sha512 }],
      upsertions: [upsertion('known', sha256, 8000)],
      says: ['known RESOURCE_NOT_FOUND Attempt to delete a user credential that does not exist'],
    },
  ];
  for (const { name, deletions = [], upsertions = [], says } of cases) {
    it(name, () =>
      onOneBroker(async ({ alter, describe: tell }) => {
        await alter([], [upsertion('known')]);
        assert.deepEqual(await alter(deletions, upsertions), says);
        assert.deepEqual(await tell(['known']), ['known 1:4096'], 'of a user all is changed or nothing');
      }),
    );
  }

  it('anything, at a broker that is not the controller: each user once', async () => {
    const { coordination, close } = await startOneBroker();
    const { alter } = handlersOn(coordination, false);
    const results = await alter([{ name: 'a', mechanism: sha256 }], [upsertion('b'), upsertion('a', sha512)]);
    assert.deepEqual(
      results.map((text) => text.split(' ').slice(0, 2).join(' ')),
      ['a NOT_CONTROLLER', 'b NOT_CONTROLLER'],
    );
    await close();
  });

  it('and cannot be told, while the tree is away', async () => {
    const away = (): never => {
      throw new CoordinationError('ConnectionLoss', 'away');
    };
    const { coordination, close } = await startOneBroker();
    const { alter, describe: tell } = handlersOn(
      Object.create(coordination, {
        get: { value: away },
        children: { value: away },
        state: { value: 'connected' },
        onState: { value: () => () => undefined },
      }) as Coordination,
    );
    const storage = /^u KAFKA_STORAGE_ERROR /;
    assert.match((await alter([], [upsertion('u')]))[0] ?? '', storage);
    assert.match((await tell(['u']))[0] ?? '', storage);
    assert.equal(await tell(null), 'KAFKA_STORAGE_ERROR');
    await close();
  });
});
