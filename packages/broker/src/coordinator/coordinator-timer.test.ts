// The timers of a shard: what is overdue runs once, whoever comes first, the event loop or somebody who asks.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { Clock, Timer } from '@odradek/runtime';
import { promisesSettled } from '@odradek/testing';
import { answer } from './coordinator-shard.ts';
import { CoordinatorTimer } from './coordinator-timer.ts';

/** A timer that the event loop comes to only when the test says so, however late that is. */
class LateTimer implements Timer {
  readonly #actions = new Set<() => void>();

  schedule(_delayMs: number, action: () => void): { cancel(): void } {
    this.#actions.add(action);
    return { cancel: () => this.#actions.delete(action) };
  }

  afterThisTurn(): void {
    throw new Error('not asked for');
  }

  close(): void {
    this.#actions.clear();
  }

  async fireAll(): Promise<void> {
    for (const action of [...this.#actions]) if (this.#actions.delete(action)) action();
    await promisesSettled();
  }
}

describe('the timers of a coordinator shard', () => {
  let nowMs: number;
  let late: LateTimer;
  let timer: CoordinatorTimer;
  let ran: string[];
  let isWritten: boolean;

  beforeEach(() => {
    nowMs = 1000;
    late = new LateTimer();
    ran = [];
    isWritten = true;
    const clock: Clock = { monotonicMs: () => nowMs, wallTimeMs: () => nowMs };
    timer = new CoordinatorTimer(late, clock, (operation) => {
      operation();
      return Promise.resolve(isWritten);
    });
  });

  const schedule = (key: string, delayMs: number, andThen?: () => void): void =>
    timer.schedule(key, delayMs, () => {
      ran.push(key);
      andThen?.();
      return answer(undefined);
    });

  test('runs what is overdue in the order of the deadlines, and leaves the rest', async () => {
    schedule('b', 20);
    schedule('c', 30);
    schedule('a', 10);
    nowMs += 21;
    timer.runOverdue();
    assert.deepEqual(ran, ['a', 'b']);
    assert.deepEqual([timer.isScheduled('a'), timer.isScheduled('c')], [false, true]);
    await late.fireAll();
    assert.deepEqual(ran, ['a', 'b', 'c'], 'nothing runs twice');
  });

  test('what the event loop has come to does not run again', async () => {
    schedule('a', 10);
    await late.fireAll();
    nowMs += 11;
    timer.runOverdue();
    assert.deepEqual(ran, ['a']);
  });

  test('one that is overdue may forget another', () => {
    schedule('a', 10, () => timer.cancel('b'));
    schedule('b', 20);
    nowMs += 21;
    timer.runOverdue();
    assert.deepEqual(ran, ['a']);
  });

  test('a later deadline of the same key counts', () => {
    schedule('a', 10);
    nowMs += 9;
    schedule('a', 10);
    nowMs += 10;
    timer.runOverdue();
    assert.deepEqual(ran, []);
    nowMs += 1;
    timer.runOverdue();
    assert.deepEqual(ran, ['a']);
  });

  test('tries again what could not be written, unless it was scheduled anew', async () => {
    isWritten = false;
    schedule('a', 10);
    nowMs += 11;
    timer.runOverdue();
    await promisesSettled();
    assert.ok(timer.isScheduled('a'));
    isWritten = true;
    nowMs += 501;
    timer.runOverdue();
    assert.deepEqual(ran, ['a', 'a']);
    await promisesSettled();
    assert.equal(timer.isScheduled('a'), false);
  });
});
