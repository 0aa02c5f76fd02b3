// The load that both brokers get, from other people's clients: Kafka's own producer-perf-test, kcat as a reader, and the
// probes of the Go client.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { runCommand } from '@odradek/testing';
import { cpuSecondsOf } from './process-usage.ts';

/** What the load goes to: a broker, or several of a cluster. */
export interface LoadTarget {
  readonly bootstrap: string;
  readonly pids: readonly number[];
}

export interface LoadTools {
  /** Apache Kafka's directory, as kafka-dist.sh makes it. */
  readonly kafka: string;
  /** The built Go probes. */
  readonly probes: string;
  readonly kcat: string;
}

export interface ProduceLoad {
  readonly topic: string;
  readonly records: number;
  readonly size: number;
  readonly acks: '1' | 'all';
  /** `default`: the client's own batch.size and linger.ms; `64k`: 65536 and 5 ms. */
  readonly batch: 'default' | '64k';
  /** Records a second; as fast as possible when left out. */
  readonly rate?: number;
}

export interface ProduceResult {
  readonly recordsPerSecond: number;
  readonly p99Ms: number;
  readonly brokerCpu: number;
  readonly brokerCpuPerMillion: number;
}

export async function produce(tools: LoadTools, contender: LoadTarget, load: ProduceLoad): Promise<ProduceResult> {
  const batch = load.batch === '64k' ? ['batch.size=65536', 'linger.ms=5'] : [];
  const amount = [
    '--num-records',
    String(load.records),
    '--record-size',
    String(load.size),
    '--throughput',
    String(load.rate ?? -1),
  ];
  const args = ['--bootstrap-server', contender.bootstrap, '--topic', load.topic, ...amount];
  const before = cpuSecondsOf(contender.pids);
  const { stdout } = await runCommand(
    join(tools.kafka, 'bin/kafka-producer-perf-test'),
    [...args, '--command-property', `acks=${load.acks}`, ...batch],
    { timeoutMs: 300_000 },
  );
  const brokerCpu = cpuSecondsOf(contender.pids) - before;
  const last = stdout.toString().trim().split('\n').at(-1) ?? '';
  const numbers = /(\d+) records sent, ([\d.]+) records\/sec .* (\d+) ms 99th/.exec(last);
  if (numbers === null || Number(numbers[1]) !== load.records) {
    throw new Error(`producer-perf-test said: ${stdout.toString().slice(-2000)}`);
  }
  return {
    recordsPerSecond: Number(numbers[2]),
    p99Ms: Number(numbers[3]),
    brokerCpu,
    brokerCpuPerMillion: (brokerCpu / load.records) * 1e6,
  };
}

/** Reads a whole topic from its beginning; CPU seconds of the broker, and the time taken. */
export async function readAll(
  tools: LoadTools,
  contender: LoadTarget,
  topic: string,
): Promise<{ brokerCpu: number; seconds: number }> {
  const before = cpuSecondsOf(contender.pids);
  const started = performance.now();
  const reader = spawnReader(tools, contender, topic, ['-o', 'beginning', '-e']);
  await ended(reader);
  return { brokerCpu: cpuSecondsOf(contender.pids) - before, seconds: (performance.now() - started) / 1000 };
}

/** Starts a reader that follows the end of a topic until it has seen `records` of them. */
export function followEnd(tools: LoadTools, contender: LoadTarget, topic: string, records: number): Promise<void> {
  return ended(spawnReader(tools, contender, topic, ['-o', 'beginning', '-c', String(records)]));
}

function spawnReader(tools: LoadTools, contender: LoadTarget, topic: string, args: readonly string[]): ChildProcess {
  const all = [
    '-C',
    '-q',
    '-b',
    contender.bootstrap,
    '-t',
    topic,
    '-p',
    '0',
    ...args,
    '-f',
    '',
    '-X',
    'queued.min.messages=10000000',
  ];
  return spawn(tools.kcat, all, { stdio: ['ignore', 'ignore', 'inherit'] });
}

async function ended(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`kcat exited with ${code}`);
}

/** Runs one of the Go probes and gives what it printed. */
export async function probe(tools: LoadTools, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runCommand(tools.probes, args, { timeoutMs: 180_000 });
  return stdout.toString() + stderr;
}
