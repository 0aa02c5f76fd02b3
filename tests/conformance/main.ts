// `npm run conformance -- [SUITE [MODE]]`: runs other people's suites against a fresh broker each, and compares what failed with
// what we know to fail. Without a suite all are run; a mode is one of the suite's runs, or whatever its script understands.
// Exit status 1: something failed that is not on the list.

import { needed, skipWithout } from '@odradek/testing';
import { judge } from './expected-failures.ts';
import { runSuite, type SuiteResult } from './run-suite.ts';
import { conformanceDirectory, programsOf, type Suite, type SuiteRun, suites } from './suites.ts';

const [suiteName, mode] = process.argv.slice(2);
const directory = conformanceDirectory();
const chosen = suites.filter(({ name }) => suiteName === undefined || name === suiteName);

if (directory === undefined) {
  console.log('Skipped: there are no suites in ../shared/conformance; ODRADEK_CONFORMANCE says where they are.');
} else if (chosen.length === 0) {
  console.log(`Usage: npm run conformance -- [SUITE [MODE]]\n${suites.map(usageOf).join('\n')}`);
  process.exitCode = 1;
} else {
  // What was started is ended in the handlers of this process's exit.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  for (const suite of chosen) await runAll(directory, suite);
}

async function runAll(directory: string, suite: Suite): Promise<void> {
  const programs = await programsOf(suite);
  const missing = skipWithout(...programs);
  if (missing !== false) {
    console.log(`${suite.name}: skipped, ${missing}`);
    return;
  }
  programs.forEach(needed);
  const named = suite.runs.filter((run) => run.mode === mode);
  const other: SuiteRun = { mode: mode ?? '', steps: [{ args: [mode ?? ''] }], limitSeconds: 900 };
  for (const run of mode === undefined ? suite.runs : named.length > 0 ? named : [other]) {
    console.log(`${suite.name}, ${run.mode}: running, at most ${run.limitSeconds} s`);
    report(suite, run, await runSuite(directory, suite, run));
  }
}

function report(suite: Suite, run: SuiteRun, result: SuiteResult): void {
  const { unexpected, expected, vanished } = judge(suite.name, result);
  const { passed, failed, skipped, seconds } = result;
  console.log(`${suite.name}, ${run.mode}: ${passed} passed, ${failed.length} failed, ${skipped} skipped in ${seconds} s`);
  for (const { test, reason } of expected) console.log(`  failed, as expected: ${test}: ${reason}`);
  for (const { test, reason } of vanished) console.log(`  passes now, take it off the list: ${test} (${reason})`);
  for (const test of unexpected) console.log(`  FAILED: ${test}`);
  if (unexpected.length === 0) return;
  console.log(`  The suite's log is ${result.logPath}.`);
  process.exitCode = 1;
}

function usageOf({ name, looksAt, runs }: Suite): string {
  return `  ${name}: ${looksAt}\n    modes: ${runs.map((run) => run.mode).join(', ')}`;
}
