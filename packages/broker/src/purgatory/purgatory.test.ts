import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Timer } from '@odradek/runtime';
import type { DelayedOperation } from './delayed-operation.ts';
import { Purgatory } from './purgatory.ts';

/** Runs what is due when the test says so. */
function manualTimer(): Timer & { advance(ms: number): void; readonly pending: number } {
  let now = 0;
  const tasks = new Set<{ atMs: number; action: () => void }>();
  return {
    get pending() {
      return tasks.size;
    },
    schedule(delayMs, action) {
      const task = { atMs: now + delayMs, action };
      tasks.add(task);
      return { cancel: () => void tasks.delete(task) };
    },
    afterThisTurn: (action) => action(),
    close: () => tasks.clear(),
    advance(ms) {
      now += ms;
      for (const task of [...tasks]) {
        if (task.atMs > now) continue;
        tasks.delete(task);
        task.action();
      }
    },
  };
}

function operation(isReady: () => boolean): DelayedOperation<string> & { readonly events: string[] } {
  const events: string[] = [];
  return {
    events,
    tryComplete() {
      if (!isReady()) return false;
      events.push('completed');
      return true;
    },
    expire() {
      events.push('expired');
    },
  };
}

test('an operation that is ready at once never waits', () => {
  const timer = manualTimer();
  const purgatory = new Purgatory<string>(timer);
  const ready = operation(() => true);
  purgatory.watch(ready, ['a'], 100);
  assert.deepEqual(ready.events, ['completed']);
  assert.equal(purgatory.size, 0);
  assert.equal(timer.pending, 0);
});

test('an operation completes once, whichever of its keys is checked', () => {
  const timer = manualTimer();
  const purgatory = new Purgatory<string>(timer);
  let isReady = false;
  const waiting = operation(() => isReady);
  purgatory.watch(waiting, ['a', 'b'], 100);
  purgatory.check('a');
  assert.deepEqual(waiting.events, []);
  isReady = true;
  purgatory.check('other');
  assert.deepEqual(waiting.events, []);
  purgatory.check('b');
  purgatory.check('a');
  timer.advance(1000);
  assert.deepEqual(waiting.events, ['completed']);
  assert.equal(purgatory.size, 0);
});

test('an operation expires when its time is up, and is forgotten', () => {
  const timer = manualTimer();
  const purgatory = new Purgatory<string>(timer);
  const waiting = operation(() => false);
  purgatory.watch(waiting, ['a'], 100);
  timer.advance(99);
  assert.deepEqual(waiting.events, []);
  timer.advance(1);
  purgatory.check('a');
  assert.deepEqual(waiting.events, ['expired']);
  assert.equal(purgatory.size, 0);
});

test('completing one operation may watch another under the same key', () => {
  const timer = manualTimer();
  const purgatory = new Purgatory<string>(timer);
  let isReady = false;
  const second = operation(() => false);
  purgatory.watch(
    {
      tryComplete() {
        if (!isReady) return false;
        purgatory.watch(second, ['a'], 100);
        return true;
      },
      expire: () => assert.fail('expired'),
    },
    ['a'],
    100,
  );
  isReady = true;
  purgatory.check('a');
  assert.equal(purgatory.size, 1);
});

test('closing expires what still waits', () => {
  const timer = manualTimer();
  const purgatory = new Purgatory<string>(timer);
  const waiting = operation(() => false);
  purgatory.watch(waiting, ['a', 'b'], 100);
  purgatory.close();
  assert.deepEqual(waiting.events, ['expired']);
  assert.equal(timer.pending, 0);
});
