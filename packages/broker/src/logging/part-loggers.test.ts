import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@odradek/runtime';
import { isLevelName, PartLoggers } from './part-loggers.ts';

function recorded(level: 'info' | 'trace' = 'trace') {
  const lines: string[] = [];
  const output = createLogger({ level, write: (text) => lines.push(text.replace(/^\S+ \S+ /, '').trim()) });
  return { lines, loggers: new PartLoggers(output, 'info') };
}

test('a part follows the root until it has a level of its own', () => {
  const { lines, loggers } = recorded();
  const storage = loggers.root.child('storage');
  const network = loggers.root.child('network');
  storage.debug('1');
  loggers.setLevel('storage', 'DEBUG');
  storage.debug('2');
  network.debug('3');
  loggers.setLevel('root', 'WARN');
  storage.info('4');
  network.info('5');
  network.warn('6');
  loggers.resetLevel('storage');
  storage.info('7');
  loggers.setLevel('network', 'FATAL');
  network.error('8');
  network.fatal('9');
  assert.deepEqual(
    lines.map((line) => line.at(-1)),
    ['2', '4', '6', '9'],
  );
});

test('two loggers of one part share its level', () => {
  const { loggers } = recorded();
  const [one, other] = [loggers.root.child('a'), loggers.root.child('a')];
  loggers.setLevel('a', 'TRACE');
  assert.deepEqual([one.isEnabled('trace'), other.isEnabled('trace')], [true, true]);
  assert.deepEqual(
    [...loggers.levels()],
    [
      ['root', 'INFO'],
      ['a', 'TRACE'],
    ],
  );
});

test('a level that the output holds back stays off', () => {
  const { loggers } = recorded('info');
  loggers.setLevel('root', 'TRACE');
  assert.equal(loggers.root.isEnabled('debug'), false);
});

test('levels are named as Kafka names them', () => {
  assert.deepEqual(['TRACE', 'FATAL', 'info', 'OFF', ''].map(isLevelName), [true, true, false, false, false]);
});
