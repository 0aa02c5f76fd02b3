import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenDirectory } from '../fixtures.ts';
import { checkMessages } from './messages.ts';
import { GoldenReport } from './report.ts';

const golden = goldenDirectory();

test('every message reads as Kafka says and is written to the bytes that Kafka wrote', {
  skip: golden === undefined && 'no golden facts',
}, () => {
  const failures: string[] = [];
  const report = new GoldenReport((line) => failures.push(line));
  checkMessages(golden ?? '', report);
  assert.equal(report.failed, 0, `${report.summary()}\n${failures.join('\n')}`);
});
