import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventQueue } from './event-queue.ts';

describe('the event queue', () => {
  it('runs one event after the other, whatever they wait for', async () => {
    const log: string[] = [];
    const queue = new EventQueue(() => assert.fail());
    const event = (name: string, turns: number) => async () => {
      log.push(`${name} begins`);
      for (let i = 0; i < turns; i++) await Promise.resolve();
      log.push(`${name} ends`);
    };
    await Promise.all([queue.run('a', event('a', 5)), queue.run('b', event('b', 0)), queue.run('c', event('c', 2))]);
    assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('tells the failure of an event to who waits for it, or reports it, and goes on', async () => {
    const reported: string[] = [];
    const queue = new EventQueue((name, error) => reported.push(`${name}: ${String(error)}`));
    queue.post('posted', () => Promise.reject(new Error('one')));
    await assert.rejects(
      queue.run('awaited', () => Promise.reject(new Error('two'))),
      /two/,
    );
    await queue.run('after', () => Promise.resolve());
    assert.deepEqual(reported, ['posted: Error: one']);
  });

  it('holds news of one kind once, until they are looked at', async () => {
    let looked = 0;
    const queue = new EventQueue(() => assert.fail());
    const gate = Promise.withResolvers<void>();
    queue.post('first', () => gate.promise);
    const look = async (): Promise<void> => {
      looked++;
      // What comes while it is being looked at must be looked at again.
      if (looked === 1) queue.postOnce('news', look);
    };
    queue.postOnce('news', look);
    queue.postOnce('news', look);
    gate.resolve();
    await queue.run('last', () => Promise.resolve());
    await queue.run('after last', () => Promise.resolve());
    assert.equal(looked, 2);
  });

  it('does not take news that wait for one owner for those of another', async () => {
    const told: string[] = [];
    const queue = new EventQueue(() => assert.fail());
    const [earlier, later] = [{}, {}];
    const gate = Promise.withResolvers<void>();
    queue.post('first', () => gate.promise);
    queue.postOnce('news', async () => void told.push('earlier'), earlier);
    queue.postOnce('news', async () => void told.push('later'), later);
    queue.postOnce('news', async () => void told.push('later again'), later);
    gate.resolve();
    await queue.run('last', () => Promise.resolve());
    assert.deepEqual(told, ['earlier', 'later']);
  });

  it('takes nothing more once it is closed, and ends when the running event has', async () => {
    const log: string[] = [];
    const queue = new EventQueue(() => undefined);
    const running = queue.run('running', async () => {
      await Promise.resolve();
      log.push('ran');
    });
    const waiting = assert.rejects(
      queue.run('waiting', async () => void log.push('never')),
      /stopping/,
    );
    await queue.close();
    await Promise.all([running, waiting]);
    await assert.rejects(
      queue.run('late', async () => void log.push('never')),
      /stopping/,
    );
    assert.deepEqual(log, ['ran']);
  });
});
