// The two brokers that are compared, brought up and down in the same way: a process, a port, a directory of its own.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@odradek/testing';

export interface Contender {
  readonly name: string;
  readonly bootstrap: string;
  readonly pid: number;
  readonly pids: readonly number[];
  /** Starts on the data that is there without waiting; gives the wall time of the start in ns, as the probes want it. */
  spawn(): bigint;
  /** Starts and waits until connections are accepted. */
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Stops and forgets all data; the next start is the first of a formatted folder. */
  wipe(): Promise<void>;
}

function nowNs(): bigint {
  return BigInt(Math.round(performance.timeOrigin * 1e6)) + BigInt(Math.round(performance.now() * 1e6));
}

/** Apache Kafka through kafka-ref.sh, with heap and flags as it ships them. */
export class ApacheKafka implements Contender {
  readonly name = 'Kafka';
  readonly bootstrap: string;
  readonly #script: string;
  readonly #port: number;
  readonly #directory: string;

  constructor(benchDirectory: string, port: number) {
    this.#script = join(benchDirectory, 'kafka-ref.sh');
    this.#port = port;
    this.#directory = join(tmpdir(), `kafka-compare-${port}`);
    this.bootstrap = `127.0.0.1:${port}`;
  }

  get pid(): number {
    return Number(readFileSync(join(this.#directory, 'pid'), 'utf8'));
  }

  get pids(): readonly number[] {
    return [this.pid];
  }

  spawn(): bigint {
    this.#run('spawn');
    return BigInt(readFileSync(join(this.#directory, 'started_ns'), 'utf8').trim());
  }

  async start(): Promise<void> {
    this.#run('start');
  }

  async stop(): Promise<void> {
    this.#run('stop');
  }

  async kill(): Promise<void> {
    this.#run('kill');
  }

  async wipe(): Promise<void> {
    this.#run('wipe');
  }

  #run(command: string): void {
    const env = { ...process.env, KAFKA_REF_DATA: this.#directory, KAFKA_REF_PROPS: 'auto.create.topics.enable=true' };
    execFileSync(this.#script, [command, String(this.#port)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  }
}

/** Odradek as it is published: the emitted JavaScript where `npm run build` has made it, else the sources. */
export class Odradek implements Contender {
  readonly name = 'Odradek';
  readonly bootstrap: string;
  readonly form: string;
  readonly #directory = mkdtempSync(join(tmpdir(), 'odradek-compare-'));
  readonly #port: number;
  readonly #command: readonly string[];
  readonly #properties: Readonly<Record<string, string | number>>;
  #pid = 0;

  constructor(
    port: number,
    nodeArguments: readonly string[] = [],
    properties: Readonly<Record<string, string | number>> = {},
    root = join(import.meta.dirname, '../..'),
  ) {
    const emitted = join(root, 'packages/cli/dist/main.js');
    const isBuilt = existsSync(emitted) && process.env['ODRADEK_BENCH_SOURCES'] === undefined;
    this.form = isBuilt ? 'emitted JavaScript' : 'sources';
    this.#command = isBuilt
      ? [...nodeArguments, emitted, 'start']
      : [...nodeArguments, '--conditions=odradek-source', join(root, 'packages/cli/src/main.ts'), 'start'];
    this.#port = port;
    this.#properties = properties;
    this.bootstrap = `127.0.0.1:${port}`;
  }

  get pid(): number {
    return this.#pid;
  }

  get pids(): readonly number[] {
    return [this.#pid];
  }

  spawn(): bigint {
    const settings = {
      listeners: `PLAINTEXT://${this.bootstrap}`,
      'log.dirs': join(this.#directory, 'data'),
      'num.partitions': 1,
      'offsets.topic.replication.factor': 1,
      'log.retention.hours': 168,
      ...this.#properties,
    };
    const overrides = Object.entries(settings).flatMap(([key, value]) => ['--override', `${key}=${value}`]);
    const output = openSync(join(this.#directory, 'log'), 'a');
    const startedNs = nowNs();
    const env = { ...process.env, NODE_COMPILE_CACHE: join(this.#directory, 'compiled') };
    const child = spawn(process.execPath, [...this.#command, ...overrides], { stdio: ['ignore', output, output], env });
    this.#pid = child.pid ?? 0;
    process.once('exit', () => child.kill('SIGKILL'));
    return startedNs;
  }

  async start(): Promise<void> {
    this.spawn();
    await until('Odradek accepts connections', () => accepts(this.#port), { everyMs: 5 });
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async wipe(): Promise<void> {
    await this.#end('SIGTERM');
    rmSync(join(this.#directory, 'data'), { recursive: true, force: true });
  }

  /** What it has printed. */
  get output(): string {
    return readFileSync(join(this.#directory, 'log'), 'utf8');
  }

  /** Where profiles that node writes at its end are found. */
  get directory(): string {
    return this.#directory;
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#pid === 0) return;
    const pid = this.#pid;
    this.#pid = 0;
    try {
      process.kill(pid, signal);
    } catch {
      return; // It has ended already.
    }
    await until(
      'Odradek has stopped',
      () => !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '),
    );
  }
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
