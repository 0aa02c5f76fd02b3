import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { createLogger, type LogOptions } from './system-world.ts';

const clock: Clock = { wallTimeMs: () => new Date(2026, 10, 29, 14, 5, 1, 123).getTime(), monotonicMs: () => 0 };

function logged(options: LogOptions, log: (logger: Logger) => void): string {
  let text = '';
  log(
    createLogger({
      clock,
      write: (line) => {
        text += line;
      },
      ...options,
    }),
  );
  return text;
}

const lines: readonly { name: string; log: (logger: Logger) => void; expected: string }[] = [
  { name: 'a bare message', log: (logger) => logger.info('Started'), expected: '2026-11-29 14:05:01.123 INFO  Started\n' },
  {
    name: 'a part and fields',
    log: (logger) =>
      logger.child('storage').warn('Slow', { topic: 'a.b-c', partition: 0, tookMs: 1.5, absent: undefined, leader: null }),
    expected: '2026-11-29 14:05:01.123 WARN  [storage] Slow  topic=a.b-c partition=0 tookMs=1.5 leader=null\n',
  },
  {
    name: 'values with spaces, objects and big integers',
    log: (logger) => logger.error('Odd', { client: 'my app', list: [1, 'x'], id: 5n }),
    expected: `2026-11-29 14:05:01.123 ERROR Odd  client="my app" list=[ 1, 'x' ] id=5\n`,
  },
  {
    name: 'a line end or a command for the terminal that a client sent',
    log: (logger) => logger.info('Client\n', { client: 'a\n2026 INFO b\u001b[1m\u009b' }),
    expected: '2026-11-29 14:05:01.123 INFO  Client\\u000a  client="a\\n2026 INFO b\\u001b[1m\\u009b"\n',
  },
];

for (const { name, log, expected } of lines) {
  test(`text shows ${name}`, () => assert.equal(logged({}, log), expected));
}

test('text puts the stack of an error and its causes below the line', () => {
  const error = new Error('cannot append', { cause: new Error('no space') });
  const text = logged({}, (logger) => logger.error('Failed', { topic: 'a', error }));
  assert.match(
    text,
    /^2026-11-29 14:05:01\.123 ERROR Failed {2}topic=a\n {4}Error: cannot append\n {8}at .*cause\]: Error: no space.*\n$/s,
  );
});

test('text shows an error of the operating system in the line', () => {
  const error = Object.assign(new Error("EROFS: read-only file system, open '/x'"), { code: 'EROFS', syscall: 'open' });
  assert.equal(
    logged({}, (logger) => logger.error('Failed', { error, topic: 'a' })),
    `2026-11-29 14:05:01.123 ERROR Failed  error="EROFS: read-only file system, open '/x'" topic=a\n`,
  );
});

for (const format of ['text', 'json'] as const) {
  test(`${format} leaves out what is below the level`, () => {
    const text = logged({ format, level: 'warn' }, (logger) => {
      logger.trace('no');
      logger.debug('no');
      logger.info('no');
      logger.warn('yes');
      logger.fatal('yes');
      assert.ok(!logger.isEnabled('info'));
      assert.ok(logger.child('part').isEnabled('error'));
    });
    assert.equal(text.match(/yes/g)?.length, 2);
    assert.ok(!text.includes('no'));
  });
}

test('json writes one object a line', () => {
  const text = logged({ format: 'json', level: 'trace' }, (logger) => {
    logger.trace('first');
    logger.child('storage').error('second', { topic: 'a', error: new TypeError('bad') });
  });
  const [first, second] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(first.level, 'trace');
  assert.equal(first.message, 'first');
  assert.ok(Number.isFinite(Date.parse(first.time)));
  assert.equal(second.part, 'storage');
  assert.equal(second.topic, 'a');
  assert.equal(second.error.type, 'TypeError');
  assert.equal(second.error.message, 'bad');
});
