import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineCutter, labelled } from './labelled-lines.ts';

test('every line of text says whose it is', () => {
  assert.equal(labelled(2, 'one\n    at {x}\n'), 'broker 2 | one\nbroker 2 |     at {x}\n');
});

test('a JSON object stays one', () => {
  const line = labelled(1, '{"level":"info","message":"a {"}\n');
  assert.deepEqual(JSON.parse(line), { node: 1, level: 'info', message: 'a {' });
  assert.ok(line.endsWith('}\n'));
});

test('pieces are cut into lines', () => {
  const cutter = new LineCutter();
  assert.deepEqual(
    ['a', 'b\nc', '\nd\n', 'e'].map((piece) => cutter.take(piece)),
    ['', 'ab\n', 'c\nd\n', ''],
  );
});
