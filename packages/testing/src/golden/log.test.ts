import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenDirectory } from '../fixtures.ts';
import { checkLogs } from './log.ts';
import { GoldenReport } from './report.ts';

const directory = goldenDirectory();

test('log directories of Apache Kafka, clean and killed, open and read as its own tools say', {
  skip: directory === undefined && 'the golden facts are absent',
}, async () => {
  const failures: string[] = [];
  const report = new GoldenReport((line) => failures.push(line));
  await checkLogs(directory!, report);
  assert.equal(report.failed, 0, failures.join('\n'));
});
