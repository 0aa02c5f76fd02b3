// What every Timer does, real or simulated.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Clock, Timer } from '@odradek/runtime';

export interface TimerUnderTest {
  readonly clock: Clock;
  readonly timer: Timer;
  /** Lets time pass until the promise is settled. */
  run<T>(promise: Promise<T>): Promise<T>;
}

export function timerContract(name: string, create: () => TimerUnderTest): void {
  describe(`timer: ${name}`, () => {
    test('runs an action no earlier than its delay', async () => {
      const { clock, timer, run } = create();
      const startMs = clock.monotonicMs();
      const ranMs = await run(new Promise<number>((resolve) => timer.schedule(12.5, () => resolve(clock.monotonicMs()))));
      assert.ok(ranMs - startMs >= 12.5, `${ranMs - startMs} ms`);
      timer.close();
    });

    test('runs actions in the order of their deadlines, and those with the same in the order they came', async () => {
      const { timer, run } = create();
      const ran: number[] = [];
      timer.schedule(60, () => ran.push(3));
      timer.schedule(20, () => ran.push(1));
      timer.schedule(40, () => ran.push(2));
      await run(new Promise<void>((resolve) => timer.schedule(80, resolve)));
      assert.deepEqual(ran, [1, 2, 3]);
      timer.close();
    });

    test('does not run an action that was cancelled', async () => {
      const { timer, run } = create();
      const ran: string[] = [];
      const cancelled = timer.schedule(5, () => ran.push('cancelled'));
      const late = timer.schedule(1, () => ran.push('ran'));
      cancelled.cancel();
      cancelled.cancel();
      await run(new Promise<void>((resolve) => timer.schedule(10, resolve)));
      late.cancel();
      assert.deepEqual(ran, ['ran']);
      timer.close();
    });

    test('an action without delay runs in a later turn, also when another action schedules it', async () => {
      const { timer, run } = create();
      const order: string[] = [];
      await run(
        new Promise<void>((resolve) => {
          timer.schedule(-5, () => {
            timer.schedule(0, () => {
              order.push('second');
              resolve();
            });
            timer.afterThisTurn(() => order.push('end of the turn'));
            order.push('first');
          });
          order.push('caller');
        }),
      );
      assert.deepEqual(order, ['caller', 'first', 'end of the turn', 'second']);
      timer.close();
    });

    test('what is put off to the end of the turn runs in order, and what that puts off runs in the next', async () => {
      const { timer, run } = create();
      const order: string[] = [];
      await run(
        new Promise<void>((resolve) => {
          timer.afterThisTurn(() => {
            order.push('a');
            timer.afterThisTurn(() => {
              order.push('c');
              resolve();
            });
          });
          timer.afterThisTurn(() => order.push('b'));
        }),
      );
      assert.deepEqual(order, ['a', 'b', 'c']);
      timer.close();
    });

    test('runs nothing after it was closed, also in the middle of a turn', async () => {
      const { timer, run } = create();
      const other = create();
      const ran: string[] = [];
      const closed = new Promise<void>((resolve) => {
        timer.schedule(1, () => {
          timer.afterThisTurn(() => ran.push('end of the turn'));
          timer.close();
          timer.schedule(1, () => ran.push('scheduled after')).cancel();
          timer.afterThisTurn(() => ran.push('put off after'));
          resolve();
        });
        timer.schedule(1, () => ran.push('the same time'));
        timer.schedule(3, () => ran.push('later'));
      });
      await run(closed);
      await other.run(new Promise<void>((resolve) => other.timer.schedule(10, resolve)));
      assert.deepEqual(ran, []);
      other.timer.close();
    });
  });
}
