// Runs one suite against a fresh broker, within its time, and reads from what the script leaves which tests failed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type OdradekProcess, startOdradekProcess } from '@odradek/testing';
import { conformanceProperties, type Step, type Suite, type SuiteRun } from './suites.ts';

export interface SuiteResult {
  readonly passed: number;
  readonly skipped: number;
  /** Sorted, without repetitions. */
  readonly failed: readonly string[];
  /** All that the suite printed, to see whether a test has run at all. */
  readonly log: string;
  readonly logPath: string;
  readonly seconds: number;
}

/** How long a script may take to end on its own after its time is over, before it is killed. */
const graceMs = 30_000;

export async function runSuite(directory: string, suite: Suite, { steps, limitSeconds }: SuiteRun): Promise<SuiteResult> {
  const startedMs = performance.now();
  const deadline = Math.floor(Date.now() / 1000) + limitSeconds;
  await using broker = await startOdradekProcess({
    properties: { ...conformanceProperties, ...suite.properties },
    port: await portFor(suite),
  });
  const results: StepResult[] = [];
  for (const step of steps) results.push(await runStep(join(directory, `${suite.name}.sh`), step, broker, deadline));
  if (!broker.isRunning) throw new Error(`the broker ended:\n${broker.output.slice(-8000)}`);
  return {
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    skipped: results.reduce((sum, { skipped }) => sum + skipped, 0),
    failed: [...new Set(results.flatMap(({ failed }) => failed))].sort(),
    log: results.map(({ log }) => log).join('\n'),
    logPath: results.at(-1)?.logPath ?? '',
    seconds: Math.round((performance.now() - startedMs) / 1000),
  };
}

type StepResult = Omit<SuiteResult, 'seconds'>;

async function runStep(script: string, step: Step, broker: OdradekProcess, deadline: number): Promise<StepResult> {
  const crash = step.withCrash === true ? onRequest(() => crashAndRestart(broker)) : undefined;
  const args = [broker.bootstrap, ...step.args, ...(crash === undefined ? [] : [crash.command])];
  const env = { ...process.env, ...step.env, CONF_KNOWN: '0', CONF_DEADLINE: String(deadline) };
  // In a session of its own, by which all that it starts can be found and ended.
  const child = spawn(script, args, { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const endAll = (): void => endSession(child.pid);
  process.once('exit', endAll);
  const timer = setTimeout(endAll, Math.max(0, deadline * 1000 - Date.now()) + graceMs);
  try {
    const output = await outputOf(child);
    await crash?.settled();
    return readResult(output, step.part);
  } finally {
    clearTimeout(timer);
    endAll();
    process.removeListener('exit', endAll);
    crash?.close();
  }
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, 'close');
  return output;
}

/** The script closes with `P passed, F failed, S skipped`; the names of what failed are in a file beside its log. */
function readResult(output: string, part: string | undefined): StepResult {
  const closing = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(output);
  if (closing === null) throw new Error(`the suite did not come to its end:\n${output.slice(-4000)}`);
  const [passed, failedCount, skipped] = closing.slice(1).map(Number) as [number, number, number];
  const logPath = /^log: (\S+)/m.exec(output)?.[1] ?? '';
  const names = existsSync(`${logPath}.fails`) ? readFileSync(`${logPath}.fails`, 'utf8').split('\n').filter(Boolean) : [];
  if (names.length === 0 && failedCount > 0) names.push('the suite itself, which could not be built or run');
  return {
    passed,
    skipped,
    failed: part === undefined ? names : names.map((name) => `${name} ${part}`),
    log: existsSync(logPath) ? readFileSync(logPath, 'utf8') + output : output,
    logPath,
  };
}

async function crashAndRestart(broker: OdradekProcess): Promise<void> {
  await broker.kill();
  await broker.start();
}

/** A shell command that makes this process act, once: it leaves a file. */
function onRequest(action: () => Promise<void>): { command: string; settled(): Promise<void>; close(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'odradek-conformance-'));
  const request = join(directory, 'wanted');
  let acting: Promise<void> | undefined;
  const polling = setInterval(() => {
    if (!existsSync(request)) return;
    clearInterval(polling);
    acting = action();
    // Seen by whoever waits for it at the end.
    acting.catch(() => undefined);
  }, 20);
  return {
    command: `touch ${request}`,
    settled: () => acting ?? Promise.reject(new Error('the suite did not ask for its crash')),
    close: () => {
      clearInterval(polling);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function portFor({ preferredPort }: Suite): Promise<number> {
  return preferredPort !== undefined && !(await accepts(preferredPort)) ? preferredPort : freePort();
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Kills every process of the session that the process leads: groups would not do, because `timeout` makes its own. */
function endSession(leader: number | undefined): void {
  if (leader === undefined) return;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // After the name, which may hold anything: state, parent, group, session.
      const session = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
      if (session === leader) process.kill(Number(pid), 'SIGKILL');
    } catch (error) {
      // It has ended meanwhile.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}
