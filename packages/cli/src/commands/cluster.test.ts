// `odradek cluster` as a user runs it: all brokers in one process, and a process for each over a real ZooKeeper.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CreateTopicsRequest, CreateTopicsResponse, errorCodes, MetadataRequest, MetadataResponse } from '@odradek/protocol';
import {
  debianProgram,
  freePort,
  needed,
  RawClient,
  runCommand,
  ServerProcess,
  skipWithout,
  startZooKeeper,
  until,
  zooKeeperJars,
} from '@odradek/testing';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const kcat = await debianProgram('kcat', 'kcat');
const zookeeper = await zooKeeperJars();
const directory = mkdtempSync(join(tmpdir(), 'odradek-test-'));
after(() => rmSync(directory, { recursive: true, force: true }));

interface ClusterOptions {
  readonly name: string;
  readonly args?: readonly string[];
}

class ClusterCommand extends ServerProcess {
  readonly ports: readonly number[];
  readonly #options: ClusterOptions;

  private constructor(options: ClusterOptions, ports: readonly number[]) {
    super({ name: 'the cluster', port: ports[0] ?? 0 });
    this.#options = options;
    this.ports = ports;
  }

  static async of(options: ClusterOptions): Promise<ClusterCommand> {
    return new ClusterCommand(options, await consecutivePorts(3));
  }

  get directory(): string {
    return join(directory, this.#options.name);
  }

  get bootstrap(): string {
    return this.ports.map((port) => `127.0.0.1:${port}`).join(',');
  }

  begin(): void {
    const settings = [
      `listeners=PLAINTEXT://127.0.0.1:${this.port}`,
      `log.dirs=${this.directory}`,
      'offsets.topic.num.partitions=3',
    ];
    const args = ['cluster', '--brokers', '3', ...(this.#options.args ?? []), ...settings.flatMap((each) => ['--override', each])];
    this.spawn({
      program: process.execPath,
      args: ['--conditions=odradek-source', main, ...args],
      env: { NODE_TEST_CONTEXT: undefined },
    });
  }

  async start(): Promise<void> {
    this.begin();
    await until(
      'the cluster is ready or has stopped',
      () => !this.isRunning || /A cluster of 3 brokers is ready at/.test(this.output),
      {
        timeoutMs: 60_000,
      },
    );
    assert.ok(this.output.includes(`A cluster of 3 brokers is ready at ${this.bootstrap}`), this.output);
  }

  /** Until it has ended by itself. */
  async untilEnded(): Promise<void> {
    await until('the command has ended', () => !this.isRunning, { timeoutMs: 60_000 });
  }

  /** What it answers to SIGTERM. */
  async terminate(): Promise<number | null> {
    process.kill(this.pid, 'SIGTERM');
    await this.untilEnded();
    return this.exitCode;
  }
}

/** As many as are wanted, one after the other, which nobody listens on at the moment. */
function consecutivePorts(count: number): Promise<number[]> {
  return until('there are free ports', async () => {
    const first = await freePort();
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const areFree = await Promise.all(ports.map(isFree));
    return areFree.every(Boolean) ? ports : undefined;
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function createTopic(ports: readonly number[], name: string): Promise<void> {
  await using any = await RawClient.connect({ port: ports[0] ?? 0 });
  const metadata = await until('all brokers are known', async () => {
    const answer = await any.send(MetadataRequest, MetadataResponse, 12, { topics: [] });
    return answer.brokers.length === 3 && answer;
  });
  const port = metadata.brokers.find(({ nodeId }) => nodeId === metadata.controllerId)?.port ?? 0;
  await using controller = await RawClient.connect({ port });
  const request = { topics: [{ name, numPartitions: 3, replicationFactor: -1 }], timeoutMs: 30_000 };
  const { topics } = await controller.send(CreateTopicsRequest, CreateTopicsResponse, 7, request);
  assert.deepEqual([topics[0]?.errorCode, topics[0]?.replicationFactor], [errorCodes.NONE, 3]);
}

async function produce(bootstrap: string, topic: string, values: readonly string[]): Promise<void> {
  const args = ['-P', '-b', bootstrap, '-t', topic, '-X', 'enable.idempotence=true', '-X', 'message.timeout.ms=60000'];
  await runCommand(needed(kcat), args, { stdin: values.join('\n'), timeoutMs: 90_000 });
}

/** The values of the topic, as a member of a group. */
async function consume(bootstrap: string, topic: string, count: number): Promise<string[]> {
  const args = ['-b', bootstrap, '-X', 'auto.offset.reset=earliest', '-c', String(count), '-q', '-G', 'readers', topic];
  const { stdout } = await runCommand(needed(kcat), args, { timeoutMs: 90_000 });
  return stdout.toString().trim().split('\n').sort();
}

const values = ['a', 'b', 'c', 'd', 'e'];
const more = ['f', 'g', 'h'];

test('three brokers in one process keep three replicas, and their data over a restart', { skip: skipWithout(kcat) }, async () => {
  const cluster = await ClusterCommand.of({ name: 'together' });
  await cluster.start();
  try {
    await createTopic(cluster.ports, 'orders');
    await produce(cluster.bootstrap, 'orders', values);
    assert.deepEqual(readdirSync(cluster.directory).sort(), ['0', '1', '2', 'coordination']);
    assert.match(cluster.output, /^broker 1 \| .*Odradek .* is ready/m);

    const second = await ClusterCommand.of({ name: 'together' });
    second.begin();
    await second.untilEnded();
    assert.equal(second.exitCode, 1);
    assert.match(second.output, /^odradek: [^\n]*together\/coordination[^\n]*\n$/);

    assert.equal(await cluster.terminate(), 0, cluster.output);
    await cluster.start();
    assert.deepEqual(await consume(cluster.bootstrap, 'orders', values.length), values);
    assert.equal(await cluster.terminate(), 0, cluster.output);
    assert.doesNotMatch(cluster.output, /ERROR|FATAL/);
  } finally {
    await cluster.kill();
  }
});

/** The process that was started by another with this among its arguments. */
function childWith(parent: number, argument: string): number {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ');
  return Number(children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)));
}

const overZooKeeper = { skip: skipWithout(kcat, zookeeper), timeout: 240_000 };

test('three brokers over ZooKeeper are processes of their own: one is killed, the others go on', overZooKeeper, async () => {
  await using ensemble = await startZooKeeper(needed(zookeeper));
  const args = ['--zookeeper', `${ensemble.connect}/here`, '--override', 'zookeeper.session.timeout.ms=3000'];
  const cluster = await ClusterCommand.of({ name: 'apart', args });
  await cluster.start();
  try {
    await createTopic(cluster.ports, 'orders');
    await produce(cluster.bootstrap, 'orders', values);
    assert.deepEqual(await consume(cluster.bootstrap, 'orders', values.length), values);
    process.kill(childWith(cluster.pid, '--override=node.id=2'), 'SIGKILL');
    await until('the command says so', () => cluster.output.includes('broker 2 has ended with SIGKILL'));
    await produce(cluster.bootstrap, 'orders', more);
    assert.deepEqual(await consume(cluster.bootstrap, 'orders', more.length), more, 'the group goes on where it was');
    assert.equal(await cluster.terminate(), 0, cluster.output);
    assert.match(cluster.output, /^broker 0 \| .*Stopped/m);
    assert.match(cluster.output, /^broker 1 \| .*Stopped/m);
  } finally {
    await cluster.kill();
  }
});

for (const { name, args } of [
  { name: 'in one process', args: () => [] },
  { name: 'in processes', args: (connect: string) => ['--zookeeper', connect] },
]) {
  test(`a broker ${name} that cannot start stops all, and one line says why`, { skip: skipWithout(zookeeper) }, async () => {
    await using ensemble = await startZooKeeper(needed(zookeeper));
    const cluster = await ClusterCommand.of({ name: `failing ${name}`, args: args(ensemble.connect) });
    const [, , taken] = cluster.ports;
    const server = createServer().listen(taken, '127.0.0.1');
    try {
      cluster.begin();
      await cluster.untilEnded();
      assert.equal(cluster.exitCode, 1);
    } finally {
      server.close();
      await cluster.kill();
    }
    const said = cluster.output.split('\n').filter((line) => line.startsWith('odradek: '));
    assert.equal(said.length, 1, cluster.output);
    assert.match(said[0] ?? '', /^odradek: Broker 2 could not start: .*EADDRINUSE/);
  });
}
