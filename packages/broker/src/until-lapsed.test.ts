// Who asks for something waits for the coordination store while the session is sure, and no longer.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { EmbeddedStore, isCoordinationError } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import { createLogger, SystemTimer, systemClock } from '@odradek/runtime';
import { SimulatedDisk } from '@odradek/testing';
import { HeldSession } from './controller/held-session.fixture.ts';
import { UntilLapsedSession, untilLapsed } from './until-lapsed.ts';

const timer = new SystemTimer(systemClock);
let store: EmbeddedStore;
let session: HeldSession;
let patient: UntilLapsedSession;

beforeEach(async () => {
  const logger = createLogger({ level: 'fatal' });
  store = await EmbeddedStore.open({ fileSystem: new SimulatedDisk(), timer, clock: systemClock, logger, directory: '/tree' });
  session = new HeldSession(await store.openSession());
  patient = new UntilLapsedSession(session);
});
afterEach(() => store.close());

const isTimeout = (error: unknown): boolean => error instanceof ProtocolError && error.code === errorCodes.REQUEST_TIMED_OUT;

describe('what is asked for until the session has lapsed', () => {
  it('is answered, and refused, as by the session', async () => {
    assert.equal((await patient.create('/a', null)).path, '/a');
    await assert.rejects(patient.create('/a', null), (error: unknown) => isCoordinationError(error, 'NodeExists'));
  });

  it('waits while the store is out of reach', async () => {
    session.become('disconnected');
    const created = patient.create('/a', null);
    session.become('connected');
    assert.equal((await created).path, '/a');
  });

  it('times out when the session may be over, and may be done later', async () => {
    session.become('disconnected');
    const created = patient.create('/a', null);
    session.become('lapsed');
    await assert.rejects(created, isTimeout);
    session.become('connected');
    await session.sync('/');
    assert.notEqual(await session.exists('/a'), undefined);
  });

  it('times out at once when it has lapsed already, and is not begun', async () => {
    session.become('lapsed');
    let isBegun = false;
    const action = async (): Promise<void> => {
      isBegun = true;
    };
    await assert.rejects(untilLapsed(session, action), isTimeout);
    assert.equal(isBegun, false);
  });
});
