import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Coordination, EmbeddedStore, InvalidNodeError, sequenceNumber } from '@odradek/coordination';
import { createLogger, SystemTimer, systemClock } from '@odradek/runtime';
import { SimulatedDisk, until } from '@odradek/testing';
import { ChangeNotifications } from './change-notifications.ts';

const logger = createLogger({ level: 'fatal' });

describe('notifications of changes', () => {
  /** Put forward by the tests. */
  let nowMs = 0;
  let timer: SystemTimer;
  let store: EmbeddedStore;
  let writer: Coordination;
  let coordination: Coordination;
  let notifications: ChangeNotifications<string>;
  let taken: string[];
  /** What the next round fails with. */
  let failure: Error | undefined;

  beforeEach(async () => {
    taken = [];
    failure = undefined;
    timer = new SystemTimer(systemClock);
    const clock = { ...systemClock, wallTimeMs: () => nowMs };
    store = await EmbeddedStore.open({ fileSystem: new SimulatedDisk(), timer, clock, logger, directory: '/tree' });
    writer = await store.openSession();
    coordination = await store.openSession();
    for (const folder of ['/some', '/others']) await writer.create(folder, null);
    await notify('/some', 'of before');
    notifications = follow();
    await notifications.begin();
  });
  afterEach(async () => {
    notifications.close();
    await store.close();
    timer.close();
  });

  function follow(): ChangeNotifications<string> {
    const decode = (data: Buffer | null): string => {
      if (data === null) throw new InvalidNodeError('there is nothing in it');
      return String(data);
    };
    return new ChangeNotifications({
      coordination,
      logger,
      what: 'things',
      folders: new Map([
        ['/some', decode],
        ['/others', (data) => `other ${decode(data)}`],
      ]),
      readAll: async () => void taken.push('all'),
      take: async (changes) => {
        const error = failure;
        failure = undefined;
        if (error !== undefined) throw error;
        taken.push(...changes);
      },
    });
  }

  async function notify(folder: string, text: string | null): Promise<void> {
    await writer.create(`${folder}/change_`, text === null ? null : Buffer.from(text), { sequential: true });
  }

  it('are taken in the order of their folder, once, and not where everything was read after them', async () => {
    await notify('/some', 'a');
    await notify('/some', 'b');
    await notify('/others', 'c');
    await until('the last has come', () => taken.includes('other c'));
    await notifications.catchUp();
    const isOther = (change: string): boolean => change.startsWith('other');
    assert.deepEqual(taken.filter(isOther), ['other c']);
    assert.deepEqual(
      taken.filter((change) => !isOther(change)),
      ['all', 'a', 'b'],
    );
  });

  it('that cannot be read do not hold up the others', async () => {
    await notify('/some', null);
    await notify('/some', 'a');
    await notifications.catchUp();
    assert.deepEqual(taken, ['all', 'a']);
  });

  it('come again where taking them has failed', async () => {
    notifications.close();
    notifications = follow();
    await notify('/some', 'a');
    failure = new Error('not now');
    await assert.rejects(notifications.catchUp(), /not now/);
    await notifications.catchUp();
    assert.deepEqual(taken, ['all', 'of before', 'a']);
  });

  it('are removed when others come a quarter of an hour later', async () => {
    const left = async (): Promise<number[]> => (await writer.children('/some')).names.map(sequenceNumber).sort();
    nowMs += 15 * 60 * 1000 - 1;
    await notify('/some', 'a');
    await notifications.catchUp();
    assert.deepEqual(await left(), [0, 1]);
    nowMs += 1;
    await notify('/some', 'b');
    await notifications.catchUp();
    assert.deepEqual(await left(), [1, 2]);
    assert.deepEqual(taken, ['all', 'a', 'b']);
  });

  it('of whoever is closed are looked at no more', async () => {
    notifications.close();
    await notify('/some', 'a');
    await notifications.begin();
    const later = follow();
    await later.begin();
    later.close();
    assert.deepEqual(taken, ['all', 'all']);
  });
});
