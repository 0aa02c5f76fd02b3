import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOrder, javaString, printJson } from './java-text.ts';

/** What Java 17 makes of them; R stands for the replacement character. */
const malformed: readonly (readonly [hex: string, text: string])[] = [
  ['61 c3 a4 e2 82 ac f0 9f a6 8b', 'aä€🦋'],
  ['80 bf', 'RR'],
  ['c0 80', 'RR'],
  ['c3', 'R'],
  ['c3 61', 'Ra'],
  ['ed a0 80 61', 'Ra'],
  ['ed a8 e5 54', 'RRT'],
  ['e0 80 80', 'RRR'],
  ['e2 82', 'R'],
  ['e2 82 61', 'Ra'],
  ['e2 61', 'Ra'],
  ['f0 80 80 80', 'RRRR'],
  ['f0 9f a6', 'R'],
  ['f0 9f', 'R'],
  ['f0 9f a6 61', 'Ra'],
  ['f0 9f 61 62', 'Rab'],
  ['f4 90 80 80', 'RRRR'],
  ['f5 80 80 80', 'RRRR'],
  ['ff fe', 'RR'],
];

test('bytes that are not UTF-8 become as many replacements as in Java', () => {
  for (const [hex, text] of malformed) {
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    assert.equal(javaString(bytes), text.replaceAll('R', '\ufffd'), hex);
  }
});

test('JSON has no spaces, whole numbers of 64 bits, and capitals in escapes', () => {
  const json = { a: 9007199254740993n, b: ['x"\\\n\u001f\u007f\u2028', true, null, 1], c: {} };
  assert.equal(printJson(json), '{"a":9007199254740993,"b":["x\\"\\\\\\n\\u001F\u007f\u2028",true,null,1],"c":{}}');
});

test('keys come in the order of a hash table', () => {
  // "Aa" and "BB" have the same hash: the later stands before the earlier.
  assert.deepEqual(hashOrder(['b', 'Aa', 'a', 'BB']), ['BB', 'Aa', 'a', 'b']);
});
