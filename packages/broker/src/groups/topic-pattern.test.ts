import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileTopicPattern } from './topic-pattern.ts';
import { InvalidPatternError } from './topic-pattern-parser.ts';

const topics = ['orders', 'orders.eu', 'orders-2024', 'Orders', 'payments', 'a', 'aaa', 'x_1', '7', 'order'];

const cases: readonly [string, readonly string[]][] = [
  ['orders', ['orders']],
  ['orders.*', ['orders', 'orders.eu', 'orders-2024']],
  ['orders\\..+', ['orders.eu']],
  ['orders\\Q.\\Eeu', ['orders.eu']],
  ['(?i)orders', ['orders', 'Orders']],
  ['(?i:o)rders', ['orders', 'Orders']],
  ['a{2,3}', ['aaa']],
  ['a{1}', ['a']],
  ['a{2,}', ['aaa']],
  ['a+?', ['a', 'aaa']],
  ['(?:orders|payments)', ['orders', 'payments']],
  ['(?P<name>a)|(?<other>7)', ['a', '7']],
  ['orders?', ['orders', 'order']],
  ['[a-z]+', ['orders', 'payments', 'a', 'aaa', 'order']],
  ['[^a-z]+', ['7']],
  ['[[:alpha:]]+', ['orders', 'Orders', 'payments', 'a', 'aaa', 'order']],
  ['[[:^alpha:]]', ['7']],
  ['\\w+', ['orders', 'Orders', 'payments', 'a', 'aaa', 'x_1', '7', 'order']],
  ['\\pL+', ['orders', 'Orders', 'payments', 'a', 'aaa', 'order']],
  ['\\p{Lu}.*', ['Orders']],
  ['\\P{L}', ['7']],
  ['[\\d_]', ['7']],
  ['[]x_1]+', ['x_1']],
  ['[a-]+', ['a', 'aaa']],
  ['^orders$', ['orders']],
  ['.*\\b2024', ['orders-2024']],
  ['.*\\B', []],
  ['\\x61', ['a']],
  ['\\x{61}\\141{2}', ['aaa']],
  ['', []],
  ['|a', ['a']],
  ['.*', topics],
  ['x{a', []],
];

for (const [source, expected] of cases) {
  test(`"${source}" matches ${expected.join(' ') || 'nothing'}`, () => {
    const pattern = compileTopicPattern(source);
    assert.deepEqual(
      topics.filter((topic) => pattern.matches(topic)),
      expected,
    );
  });
}

for (const source of [
  '(',
  ')',
  'a)',
  '[',
  '[a',
  '[z-a]',
  '*',
  'a**',
  'a{1001}',
  'a{3,2}',
  '\\',
  '\\y',
  '\\1',
  '(?=a)',
  '(?<!a)',
  '\\p{Nope}',
  '[[:nope:]]',
  '(?P<>a)',
]) {
  test(`"${source}" is no expression`, () => {
    assert.throws(() => compileTopicPattern(source), InvalidPatternError);
  });
}

test('an expression that makes other engines go back and forth for ever takes no time', () => {
  const name = `${'a'.repeat(240)}b`;
  for (const source of ['(a*)*', '(a|a)*', '(a|aa)+', '(.*)(.*)(.*)(.*)(.*)(.*)x', '(a?){100}a{100}']) {
    assert.equal(compileTopicPattern(source).matches(name), false);
  }
});

test('an expression that unfolds into too many states is refused', () => {
  assert.throws(() => compileTopicPattern('((a{1000}){1000}){1000}'), InvalidPatternError);
  assert.throws(() => compileTopicPattern('('.repeat(10_000)), InvalidPatternError);
  assert.throws(() => compileTopicPattern('a*'.repeat(10_000)), InvalidPatternError);
});

test('a thousand times a thousand times nothing takes no time', () => {
  assert.throws(() => compileTopicPattern('((((){1000}){1000}){1000}){1000}'), InvalidPatternError);
  assert.equal(compileTopicPattern('(){1000}a').matches('a'), true);
});
