// The part of the conformance suites that is quick and steady. `npm run conformance` runs all of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skipWithout } from '@odradek/testing';
import { judge } from './expected-failures.ts';
import { runSuite } from './run-suite.ts';
import { conformanceDirectory, programsOf, suites } from './suites.ts';

const directory = conformanceDirectory();

for (const [name, mode] of [
  ['franz-go', 'quick'],
  ['linearizable', 'with a crash'],
] as const) {
  const suite = suites.find((candidate) => candidate.name === name);
  const run = suite?.runs.find((candidate) => candidate.mode === mode);
  if (suite === undefined || run === undefined) throw new Error(`there is no suite ${name}, ${mode}`);
  const skip =
    directory === undefined ? 'the conformance suites are not beside the repository' : skipWithout(...(await programsOf(suite)));

  test(`${name}, ${mode}, fails no test but those that are known to fail`, { skip }, async () => {
    const result = await runSuite(directory ?? '', suite, run);
    assert.deepEqual(judge(name, result).unexpected, [], `the suite's log is ${result.logPath}`);
    assert.ok(result.passed > 0, 'something has run');
  });
}

test('tells new failures, known ones, and those that have vanished apart', () => {
  const failed = ['TestFuncClientMetadata', 'TestNew'];
  const log = 'TestFuncClientMetadata\nTestFuncIdempotentBufferedSequence\nTestFuncConsumerGroupStaticMembership_Basic';
  const { unexpected, expected, vanished } = judge('sarama', { failed, log });
  assert.deepEqual(unexpected, ['TestNew']);
  assert.deepEqual(
    expected.map(({ test: name }) => name),
    ['TestFuncClientMetadata'],
  );
  assert.deepEqual(
    vanished.map(({ test: name }) => name),
    ['TestFuncIdempotentBufferedSequence'],
  );
  const skipped = '=== RUN   TestFuncIdempotentBufferedSequence\n--- SKIP: TestFuncIdempotentBufferedSequence (0.00s)';
  assert.deepEqual(judge('sarama', { failed, log: skipped }).vanished, [], 'what was skipped may still fail');
});
