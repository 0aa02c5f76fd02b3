import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  atLeast,
  between,
  boolean,
  ConfigError,
  className,
  distinct,
  double,
  int,
  list,
  long,
  maxLong,
  nonEmptyString,
  oneOf,
  oneOfIgnoringCase,
  parseOverride,
  parseProperties,
  parseSetting,
  password,
  printSetting,
  type Setting,
  short,
  string,
} from './config.ts';

const doc = '';

test('reads each type', async (t) => {
  const cases: readonly (readonly [Setting, string, unknown])[] = [
    [boolean(false, { doc }), ' TRUE ', true],
    [boolean(true, { doc }), 'false', false],
    [int(0, { doc }), ' 42 ', 42],
    [int(0, { doc }), '+7', 7],
    [int(0, { doc }), '-2147483648', -2147483648],
    [short(0, { doc }), '32767', 32767],
    [long(0, { doc }), '9007199254740991', Number.MAX_SAFE_INTEGER],
    [long(0, { doc }), maxLong, Number.MAX_SAFE_INTEGER],
    [long(0, { doc }), '-9223372036854775808', Number.MIN_SAFE_INTEGER],
    [double(0, { doc }), '.5e1', 5],
    [string('', { doc }), '  a b ', 'a b'],
    [className(null, { doc }), 'org.x.Y', 'org.x.Y'],
    [password(null, { doc }), 'secret', 'secret'],
    [list('', { doc }), '', []],
    [list('', { doc }), 'a , b,c', ['a', 'b', 'c']],
  ];
  for (const [setting, text, value] of cases) {
    await t.test(`${setting.type} ${JSON.stringify(text)}`, () => assert.deepEqual(parseSetting('x', setting, text), value));
  }
});

test('refuses what cannot be read, in one line', async (t) => {
  const cases: readonly (readonly [Setting, string, string])[] = [
    [int(0, { doc }), 'abc', 'Invalid value abc for configuration x: Not a number of type INT'],
    [int(0, { doc }), '2147483648', 'Invalid value 2147483648 for configuration x: Not a number of type INT'],
    [int(0, { doc }), '1.5', 'Invalid value 1.5 for configuration x: Not a number of type INT'],
    [int(0, { doc }), '', 'Invalid value  for configuration x: Not a number of type INT'],
    [short(0, { doc }), '32768', 'Invalid value 32768 for configuration x: Not a number of type SHORT'],
    [long(0, { doc }), '9223372036854775808', 'Invalid value 9223372036854775808 for configuration x: Not a number of type LONG'],
    [double(0, { doc }), '1,5', 'Invalid value 1,5 for configuration x: Not a number of type DOUBLE'],
    [boolean(true, { doc }), 'yes', 'Invalid value yes for configuration x: Not true or false'],
    [int(0, { doc, valid: atLeast(1) }), '0', 'Invalid value 0 for configuration x: Value must be at least 1'],
    [int(0, { doc, valid: between(1, 9) }), '10', 'Invalid value 10 for configuration x: Value must be no more than 9'],
    [string('a', { doc, valid: oneOf('a', 'b') }), 'A', 'Invalid value A for configuration x: String must be one of: a, b'],
    [list('a', { doc, valid: oneOf('a', 'b') }), 'a,c', 'Invalid value a,c for configuration x: String must be one of: a, b'],
    [list('a', { doc, valid: oneOf('a', 'b') }), 'a,a', 'Invalid value a,a for configuration x: a occurs more than once'],
    [
      string('a', { doc, valid: oneOfIgnoringCase('UP', 'DOWN') }),
      'left',
      'Invalid value left for configuration x: String must be one of (case insensitive): UP, DOWN',
    ],
    [string('a', { doc, valid: nonEmptyString }), ' ', 'Invalid value   for configuration x: String must not be empty'],
    [
      list('a', { doc, valid: distinct({ mayBeEmpty: false }) }),
      '',
      'Invalid value  for configuration x: the list must not be empty',
    ],
  ];
  for (const [setting, text, message] of cases) {
    await t.test(message, () => assert.throws(() => parseSetting('x', setting, text), new ConfigError(message)));
  }
});

test('never shows a secret in a message', () => {
  const secret = password(null, { doc, valid: { description: '', problem: () => 'too short' } });
  assert.throws(
    () => parseSetting('x', secret, 'hunter2'),
    new ConfigError('Invalid value [hidden] for configuration x: too short'),
  );
});

test('accepts a name in any case where case is ignored', () => {
  const setting = string('UP', { doc, valid: oneOfIgnoringCase('UP', 'DOWN') });
  assert.equal(parseSetting('x', setting, 'down'), 'down');
});

test('prints values as Kafka does', async (t) => {
  const cases: readonly (readonly [Setting, string, string])[] = [
    [boolean(true, { doc }), 'TRUE', 'true'],
    [int(0, { doc }), '007', '7'],
    [long(0, { doc }), maxLong, maxLong],
    [double(0, { doc }), '1', '1.0'],
    [double(0, { doc }), '0.5', '0.5'],
    [double(0, { doc }), '12345678', '1.2345678E7'],
    [double(0, { doc }), '0.0001', '1.0E-4'],
    [list('', { doc }), 'a, b', 'a,b'],
    [string('', { doc }), ' a ', 'a'],
  ];
  for (const [setting, text, printed] of cases) {
    await t.test(`${setting.type} ${text}`, () => assert.equal(printSetting(setting, text), printed));
  }
});

test('prints the default of a double as Java does', () => {
  assert.equal(double(Number.MAX_VALUE, { doc }).defaultText, '1.7976931348623157E308');
  assert.equal(double(0.8, { doc }).defaultText, '0.8');
});

test('reads a properties file', () => {
  const text = ['# comment', '! comment', 'a=1', 'b : two \\', '   lines', 'c', 'd=${a}', 'e=\\u00e9', 'a = 2'].join('\n');
  assert.deepEqual(
    parseProperties(text),
    new Map([
      ['a', '2'],
      ['b', 'two lines'],
      ['c', ''],
      ['d', '${a}'],
      ['e', 'é'],
    ]),
  );
});

test('reads a properties file as Windows writes it', () => {
  assert.deepEqual(
    [...parseProperties('\uFEFFa=1\r\nb=2 \\\r\n  3\r\n')],
    [
      ['a', '1'],
      ['b', '2 3'],
    ],
  );
});

test('reads an override', () => {
  assert.deepEqual(parseOverride('a.b = c=d'), ['a.b', 'c=d']);
  assert.deepEqual(parseOverride('a='), ['a', '']);
  for (const text of ['a', '=b', '']) assert.throws(() => parseOverride(text), ConfigError);
});
