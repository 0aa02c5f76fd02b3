// Foreign clients that produce all the while, whatever happens to the brokers, and what they were told: librdkafka as an idempotent
// producer in a process of its own, and kafkajs with acks=all in ours.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { debianProgram, findProgram, needed, pythonWith, runCommand } from '@odradek/testing';
import kafkajs from 'kafkajs';

const { Kafka, logLevel } = kafkajs;

export const python = findProgram('python3');
export const confluent = await pythonWith('confluent-kafka', ['confluent-kafka==2.16.1']);
export const kcat = await debianProgram('kcat', 'kcat');
export const loadTools = [python, confluent, kcat];

const program = fileURLToPath(new URL('python/steady_producer.py', import.meta.url));

export interface SteadyLoadOptions {
  readonly bootstrap: string;
  readonly topic: string;
  readonly partitions: number;
  readonly recordsPerSecond?: number;
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
  readonly #confluent: Told = told('librdkafka', true);
  readonly #kafkajs: Told = told('kafkajs', false);
  readonly #child: ChildProcess;
  readonly #written: Promise<unknown>;
  #isStopped = false;

  constructor(options: SteadyLoadOptions) {
    this.#options = options;
    const { bootstrap, topic, partitions, recordsPerSecond = 200 } = options;
    const args = [program, bootstrap, topic, String(partitions), this.#confluent.name, String(recordsPerSecond)];
    this.#child = spawn(needed(python), args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONPATH: needed(confluent) },
    });
    let rest = '';
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) takeLine(this.#confluent, line);
    });
    this.#written = this.#produceWithKafkaJs();
    this.#written.catch(() => undefined); // Seen where the load is stopped.
  }

  /** Records acknowledged so far. */
  get acknowledged(): number {
    return [this.#confluent, this.#kafkajs].reduce(
      (sum, { acknowledged }) => sum + [...acknowledged.values()].reduce((some, numbers) => some + numbers.length, 0),
      0,
    );
  }

  /** Records acknowledged so far in one partition. */
  acknowledgedIn(partition: number): number {
    return [this.#confluent, this.#kafkajs].reduce((sum, { acknowledged }) => sum + (acknowledged.get(partition)?.length ?? 0), 0);
  }

  /** What was acknowledged so far, as `PARTITION VALUE`. */
  values(): string[] {
    return [this.#confluent, this.#kafkajs].flatMap(({ name, acknowledged }) =>
      [...acknowledged].flatMap(([partition, numbers]) => numbers.map((number) => `${partition} ${name}:${number}`)),
    );
  }

  /** Ends when everything that was sent is acknowledged. Fails when a record was given up. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const exited = once(this.#child, 'close');
    this.#child.stdin?.end();
    await Promise.all([exited, this.#written]);
    assert.deepEqual([this.#confluent.failed, this.#kafkajs.failed], [[], []]);
  }

  /** For the end of a test that failed. */
  abandon(): void {
    this.#isStopped = true;
    this.#child.kill('SIGKILL');
  }

  /** Reads the whole topic with kcat: every acknowledged record is there, an idempotent producer's once and in order. */
  async check(bootstrap: string): Promise<void> {
    const { topic } = this.#options;
    const { stdout } = await runCommand(
      needed(kcat),
      ['-C', '-q', '-e', '-b', bootstrap, '-t', topic, '-o', 'beginning', '-f', '%p %s\\n'],
      {
        timeoutMs: 120_000,
      },
    );
    const found = new Map<string, number[]>();
    for (const line of stdout.toString().split('\n')) {
      const [, partition, name, number] = /^(\d+) ([a-z]+):(\d+)$/.exec(line) ?? [];
      if (partition === undefined) continue;
      const key = `${name} ${partition}`;
      const numbers = found.get(key);
      if (numbers === undefined) found.set(key, [Number(number)]);
      else numbers.push(Number(number));
    }
    for (const { name, isIdempotent, acknowledged } of [this.#confluent, this.#kafkajs]) {
      assert.ok(acknowledged.size > 0, `${name} wrote something`);
      for (const [partition, numbers] of acknowledged) {
        const there = found.get(`${name} ${partition}`) ?? [];
        const missing = numbers.filter(
          (
            (present) => (number: number) =>
              !present.has(number)
          )(new Set(there)),
        );
        assert.deepEqual(missing, [], `acknowledged to ${name} and lost in partition ${partition}`);
        if (isIdempotent) assert.deepEqual(there, numbers, `${name} in partition ${partition}: once and in order`);
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
    await producer.disconnect();
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

function takeLine(to: Told, line: string): void {
  const [partition = '', , number = ''] = line.split(' ');
  if (partition === 'failed') to.failed.push(line);
  else take(to, Number(partition), Number(number));
}
