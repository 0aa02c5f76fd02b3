import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorByCode } from '@odradek/protocol';
import { callHandler, versionsOf } from '../requests/call-handler.fixture.ts';
import { updateFeaturesHandler } from './57-update-features.ts';

const [upgrade, safeDowngrade, unsafeDowngrade] = [1, 2, 3];

interface Update {
  readonly feature: string;
  readonly level: number;
  readonly type?: number;
}

function handlerWith(isActive = true) {
  return updateFeaturesHandler({ brokerId: 7, controller: () => ({ isActive }) });
}

async function ask(version: number, updates: readonly Update[], isActive = true) {
  const featureUpdates = updates.map(({ feature, level, type = upgrade }) => ({
    feature,
    maxVersionLevel: level,
    ...(version === 0 ? { allowDowngrade: type !== upgrade } : { upgradeType: type }),
  }));
  const answer = await callHandler(handlerWith(isActive), version, { featureUpdates });
  const results = version <= 1 ? answer.results.map(({ feature, errorCode }) => `${feature} ${errorByCode(errorCode).name}`) : [];
  return { error: errorByCode(answer.errorCode).name, message: answer.errorMessage, results };
}

describe('UpdateFeatures', () => {
  for (const version of versionsOf(handlerWith())) {
    it(`confirms the level that a feature has, in version ${version}`, async () => {
      const results = version <= 1 ? ['group.version NONE'] : [];
      assert.deepEqual(await ask(version, [{ feature: 'group.version', level: 1 }]), { error: 'NONE', message: null, results });
    });

    it(`refuses a feature that is not known, and all that is asked with it, in version ${version}`, async () => {
      const updates = [
        { feature: 'group.version', level: 1 },
        { feature: 'no.such.feature', level: 1 },
      ];
      assert.deepEqual(await ask(version, updates), {
        error: 'INVALID_UPDATE_VERSION',
        message: 'Invalid update version 1 for feature no.such.feature. Broker 7 does not support this feature.',
        results: [],
      });
    });

    it(`is for the controller, in version ${version}`, async () => {
      const { error, results } = await ask(version, [{ feature: 'group.version', level: 1 }], false);
      assert.deepEqual([error, results], ['NOT_CONTROLLER', []]);
    });
  }

  const softwareLevel = "Its level is that of the brokers' software, 1, and cannot be lowered.";
  const refused: readonly (Update & { readonly says: string })[] = [
    { feature: 'group.version', level: 2, says: 'Broker 7 only supports versions 0-1.' },
    { feature: 'group.version', level: -1, says: 'A feature version cannot be less than 0.' },
    {
      feature: 'group.version',
      level: 0,
      says: "Can't downgrade the version of this feature without setting the upgrade type to a downgrade.",
    },
    { feature: 'group.version', level: 0, type: safeDowngrade, says: softwareLevel },
    { feature: 'group.version', level: 0, type: unsafeDowngrade, says: softwareLevel },
    { feature: 'group.version', level: 1, type: 0, says: 'The controller does not support the given upgrade type.' },
    { feature: 'group.version', level: 1, type: 9, says: 'The controller does not support the given upgrade type.' },
    { feature: 'metadata.version', level: 33, says: 'Broker 7 does not support this feature.' },
  ];
  for (const { says, ...update } of refused) {
    it(`refuses ${update.feature}=${update.level} of type ${update.type ?? upgrade}`, async () => {
      const { error, message } = await ask(2, [update]);
      const text = `Invalid update version ${update.level} for feature ${update.feature}. ${says}`;
      assert.deepEqual([error, message], ['INVALID_UPDATE_VERSION', text]);
    });
  }

  it('takes a downgrade of version 0', async () => {
    const { message } = await ask(0, [{ feature: 'group.version', level: 0, type: safeDowngrade }]);
    assert.equal(message, `Invalid update version 0 for feature group.version. ${softwareLevel}`);
  });

  it('leaves a feature off that nobody has', async () => {
    assert.equal((await ask(2, [{ feature: 'share.version', level: 0, type: safeDowngrade }])).error, 'NONE');
    assert.equal((await ask(2, [])).error, 'NONE');
  });
});
