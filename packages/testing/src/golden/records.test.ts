import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenDirectory } from '../fixtures.ts';
import { checkRecords } from './records.ts';
import { GoldenReport } from './report.ts';

const directory = goldenDirectory();

test('record batches read, fail and encode as those of Apache Kafka', {
  skip: directory === undefined && 'the golden facts are absent',
}, () => {
  const failures: string[] = [];
  const report = new GoldenReport((line) => failures.push(line));
  checkRecords(directory!, report);
  assert.equal(report.failed, 0, failures.join('\n'));
});
