// Foreign clients that produce all the while, whatever happens to the brokers, and what they were told: idempotent producers in processes of
// their own, librdkafka and whoever else is asked for; and kafkajs with acks=all in ours.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { debianProgram, findProgram, goProgram, javaProgram, needed, pythonWith, runCommand, type Tool } from '@odradek/testing';
import kafkajs from 'kafkajs';
import { java, kafkaTools } from '../interop/java.ts';

const { Kafka, logLevel } = kafkajs;

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export const python = findProgram('python3');
export const confluent = await pythonWith('confluent-kafka', ['confluent-kafka==2.16.1']);
export const kcat = await debianProgram('kcat', 'kcat');
export const loadTools = [python, confluent, kcat];

/** A foreign client as a program; it takes the arguments and prints the lines of python/steady_producer.py or steady_consumer.py. */
export interface SteadyProgram {
  readonly name: string;
  readonly tools: readonly Tool<string>[];
  readonly command: (kind: 'produce' | 'consume') => { readonly program: string; readonly args: readonly string[] };
  readonly env?: () => Readonly<Record<string, string>>;
}

export const librdkafka: SteadyProgram = {
  name: 'librdkafka',
  tools: [python, confluent],
  command: (kind) => ({ program: needed(python), args: [here(`python/steady_${kind}r.py`)] }),
  env: () => ({ PYTHONPATH: needed(confluent) }),
};

/** Only a producer. */
export async function franzGo(): Promise<SteadyProgram> {
  const producer = await goProgram('steady-producer', here('go/steady-producer'));
  return { name: 'franzgo', tools: [producer], command: () => ({ program: needed(producer), args: [] }) };
}

export async function javaClient(): Promise<SteadyProgram> {
  const client = await javaProgram(here('java/SteadyClient.java'), await kafkaTools());
  const flags = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx256m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=off'];
  return {
    name: 'java',
    tools: [java, client],
    command: (kind) => ({ program: needed(java), args: [...flags, '-cp', needed(client), 'SteadyClient', kind] }),
  };
}

/** Calls `take` for each line that it prints; it ends when its standard input does. */
export function startSteadyProgram(
  { command, env }: SteadyProgram,
  kind: 'produce' | 'consume',
  args: readonly string[],
  take: (line: string) => void,
): ChildProcess {
  const { program, args: first } = command(kind);
  const child = spawn(program, [...first, ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...env?.() },
  });
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  return child;
}

export interface SteadyLoadOptions {
  readonly bootstrap: string;
  readonly topic: string;
  readonly partitions: number;
  readonly recordsPerSecond?: number;
  /** Besides librdkafka and kafkajs. */
  readonly more?: readonly SteadyProgram[];
}

/** What one producer was told: by partition, the numbers of its records in the order in which they were acknowledged. */
interface Told {
  readonly name: string;
  readonly isIdempotent: boolean;
  readonly acknowledged: Map<number, number[]>;
  readonly failed: string[];
}

export class SteadyLoad {
  readonly #options: SteadyLoadOptions;
  readonly #kafkajs: Told = told('kafkajs', false);
  readonly #producers: readonly Told[];
  readonly #children: readonly ChildProcess[];
  readonly #written: Promise<unknown>;
  #disconnect: () => Promise<void> = async () => undefined;
  #isStopped = false;

  constructor(options: SteadyLoadOptions) {
    this.#options = options;
    const programs = [librdkafka, ...(options.more ?? [])];
    const idempotent = programs.map(({ name }) => told(name, true));
    this.#producers = [...idempotent, this.#kafkajs];
    const { bootstrap, topic, partitions, recordsPerSecond = 200 } = options;
    this.#children = programs.map((program, index) => {
      const args = [bootstrap, topic, String(partitions), program.name, String(recordsPerSecond)];
      return startSteadyProgram(program, 'produce', args, (line) => takeLine(idempotent[index], line));
    });
    this.#written = this.#produceWithKafkaJs();
    this.#written.catch(() => undefined); // Seen where the load is stopped.
  }

  /** Records acknowledged so far. */
  get acknowledged(): number {
    return this.#producers.reduce(
      (sum, { acknowledged }) => sum + [...acknowledged.values()].reduce((some, numbers) => some + numbers.length, 0),
      0,
    );
  }

  /** Records acknowledged so far in one partition to that idempotent producer which has the fewest. kafkajs may wait for a broker that hangs. */
  acknowledgedIn(partition: number): number {
    const idempotent = this.#producers.filter(({ isIdempotent }) => isIdempotent);
    return Math.min(...idempotent.map(({ acknowledged }) => acknowledged.get(partition)?.length ?? 0));
  }

  /** How far each producer is, by partition, and what it has given up. */
  describe(): string {
    const told = this.#producers.map(({ name, acknowledged, failed }) => {
      const counts = [...acknowledged].map(([partition, { length }]) => `${partition}: ${length}`).join(', ');
      return `${name} ${counts}${failed.length === 0 ? '' : `, ${failed.length} given up (${failed.slice(0, 3).join('; ')})`}`;
    });
    return told.join('; ');
  }

  /** What was acknowledged so far, as `PARTITION VALUE`. */
  values(): string[] {
    return this.#producers.flatMap(({ name, acknowledged }) =>
      [...acknowledged].flatMap(([partition, numbers]) => numbers.map((number) => `${partition} ${name}:${number}`)),
    );
  }

  /** Ends when everything that was sent is acknowledged. Fails when a record was given up. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const exited = this.#children.map((child) => once(child, 'close'));
    for (const child of this.#children) child.stdin?.end();
    await Promise.all([...exited, this.#written]);
    for (const { name, failed } of this.#producers) assert.deepEqual(failed, [], `${name} has given up nothing`);
  }

  /** For the end of a test that failed. */
  abandon(): void {
    this.#isStopped = true;
    this.#disconnect().catch(() => undefined); // It may not have come so far as to be connected.
    for (const child of this.#children) child.kill('SIGKILL');
  }

  /** Reads the whole topic with kcat: every acknowledged record is there, an idempotent producer's once and in order. */
  async check(bootstrap: string): Promise<void> {
    const { topic } = this.#options;
    const args = ['-C', '-q', '-e', '-b', bootstrap, '-t', topic, '-o', 'beginning', '-f', '%p %s\\n'];
    const { stdout } = await runCommand(needed(kcat), args, { timeoutMs: 120_000 });
    const found = new Map<string, number[]>();
    for (const line of stdout.toString().split('\n')) {
      const [, partition, name, number] = /^(\d+) ([a-z]+):(\d+)$/.exec(line) ?? [];
      if (partition === undefined) continue;
      const key = `${name} ${partition}`;
      const numbers = found.get(key);
      if (numbers === undefined) found.set(key, [Number(number)]);
      else numbers.push(Number(number));
    }
    for (const { name, isIdempotent, acknowledged } of this.#producers) {
      assert.ok(acknowledged.size > 0, `${name} wrote something`);
      for (const [partition, numbers] of acknowledged) {
        const there = found.get(`${name} ${partition}`) ?? [];
        const present = new Set(there);
        const missing = numbers.filter((number) => !present.has(number));
        assert.deepEqual(missing, [], `acknowledged to ${name} and lost in partition ${partition}`);
        // In the order in which they were sent. What was on its way to a leader that hung is acknowledged later than what followed.
        const sent = numbers.toSorted((one, other) => one - other);
        if (isIdempotent) assert.deepEqual(there, sent, `${name} in partition ${partition}: once and in order`);
      }
    }
  }

  async #produceWithKafkaJs(): Promise<void> {
    const { bootstrap, topic, partitions, recordsPerSecond = 200 } = this.#options;
    const retry = { retries: 1000, initialRetryTime: 50, maxRetryTime: 500 };
    const client = new Kafka({
      clientId: 'steady',
      brokers: bootstrap.split(','),
      logLevel: logLevel.NOTHING,
      retry,
      requestTimeout: 6_000,
    });
    const producer = client.producer({ allowAutoTopicCreation: false, retry });
    this.#disconnect = () => producer.disconnect();
    await producer.connect();
    for (let number = 0; !this.#isStopped; number++) {
      const partition = number % partitions;
      try {
        await producer.send({ topic, acks: -1, messages: [{ partition, value: `kafkajs:${number}` }] });
        take(this.#kafkajs, partition, number);
      } catch (error) {
        this.#kafkajs.failed.push(`${number}: ${error}`);
      }
      await delay(1000 / recordsPerSecond);
    }
    await this.#disconnect();
  }
}

function told(name: string, isIdempotent: boolean): Told {
  return { name, isIdempotent, acknowledged: new Map(), failed: [] };
}

function take(to: Told, partition: number, number: number): void {
  const numbers = to.acknowledged.get(partition);
  if (numbers === undefined) to.acknowledged.set(partition, [number]);
  else numbers.push(number);
}

function takeLine(to: Told | undefined, line: string): void {
  if (to === undefined) return;
  const [partition = '', , number = ''] = line.split(' ');
  if (partition === 'failed') to.failed.push(line);
  else take(to, Number(partition), Number(number));
}
