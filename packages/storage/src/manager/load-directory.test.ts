import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iterateBatches } from '@odradek/protocol';
import { type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import { CountedReads } from '../log/counted-reads.fixture.ts';
import { defaultLogConfig } from '../log/log-config.ts';
import { batch, topicId } from '../log/open-log.fixture.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from './log-manager.ts';

class Broker {
  readonly world: SimulatedWorld;
  machine: SimulatedMachine;
  manager!: LogManager;
  /** What the start read from files of records. */
  reads!: CountedReads;
  readonly offline: string[] = [];
  readonly #directories: readonly string[];

  constructor(seed = 1, directories: readonly string[] = ['/data']) {
    this.world = new SimulatedWorld({ seed });
    this.machine = this.world.machine('broker');
    this.#directories = directories;
  }

  async start(recoveryThreads = 2): Promise<this> {
    this.reads = new CountedReads(this.machine.fileSystem, '.log');
    this.manager = LogManager.open({
      world: { ...this.machine, fileSystem: this.reads.fileSystem },
      directories: this.#directories,
      topicLogConfig: () => defaultLogConfig,
      recoveryThreads: () => recoveryThreads,
      onDirectoryOffline: ({ path }) => this.offline.push(path),
    });
    await this.world.run(this.manager.load());
    return this;
  }

  log(partition: number): PartitionLog {
    return this.manager.getOrCreate({ topic: 'orders', partition }, { topicId, config: defaultLogConfig });
  }

  async append(partition: number, sizeBytes: number, letter = 'x'): Promise<void> {
    const info = this.log(partition).appendAsLeader(batch([letter.repeat(sizeBytes)]), { leaderEpoch: 0, origin: 'client' });
    await this.world.run(info.written);
  }
}

test('a large segment that must be looked through does not hold up other work', async () => {
  const broker = await new Broker().start();
  for (let count = 0; count < 24; count++) await broker.append(0, 1_000_000);
  broker.machine = broker.world.crash('broker', 'everything');
  let turns = 0;
  const count = (): void => {
    turns += 1;
    broker.machine.timer.schedule(1, count);
  };
  count();
  await broker.start();
  assert.equal(broker.log(0).logEndOffset, 24);
  assert.ok(turns > 20, `other work had ${turns} turns`);
});

test('a start after kill -9 looks only through what has been written to since the last start', async () => {
  const partitions = Number(process.env['ODRADEK_PARTITIONS'] ?? 1000);
  const broker = await new Broker().start();
  for (let partition = 0; partition < partitions; partition++) {
    broker.log(partition).appendAsLeader(batch(['x'.repeat(500)]), { leaderEpoch: 0, origin: 'client' });
  }
  await broker.world.advance(10);
  await broker.world.run(broker.manager.close());
  await broker.start();
  assert.deepEqual([broker.manager.startReport.isClean, broker.manager.startReport.scannedSegments], [true, 0]);
  for (const partition of [7, 471, 999]) await broker.append(partition, 100);
  // The checkpoint of recovery points has been written in between, or has not.
  for (const wait of [0, 70_000]) {
    await broker.world.advance(wait);
    broker.machine = broker.world.crash('broker', 'everything');
    await broker.start();
    const { isClean, logs, scannedSegments, scannedBytes } = broker.manager.startReport;
    assert.deepEqual([isClean, logs], [false, partitions]);
    assert.equal(scannedSegments, 3);
    assert.ok(scannedBytes < 3 * 1000, `${scannedBytes} bytes`);
    assert.equal(broker.log(471).logEndOffset, 2);
  }
});

test('what a start after kill -9 reads of logs that nobody has written to does not grow with them', async () => {
  for (const batches of [20, 80]) {
    const broker = await new Broker().start();
    for (let partition = 0; partition < 5; partition++) {
      for (let count = 0; count < batches; count++) await broker.append(partition, 20_000);
    }
    await broker.world.run(broker.manager.close());
    await broker.start();
    await broker.append(0, 20_000);
    broker.machine = broker.world.crash('broker', 'everything');
    await broker.start();
    const { scannedSegments, scannedBytes } = broker.manager.startReport;
    assert.equal(scannedSegments, 1);
    // The one that was written to is looked through once, from its beginning. Of the others a header is read, with what lies behind it.
    const ofOthers = broker.reads.sizeBytes - scannedBytes;
    assert.ok(ofOthers < 5 * 2 * 16_384, `${ofOthers} bytes of logs of ${batches * 20_000}`);
  }
});

for (const recoveryThreads of [1, 2, 5]) {
  test(`${recoveryThreads} logs of each directory wait for the disk at the same time, if that is how it is set`, async () => {
    const broker = await new Broker(1, ['/one', '/two']).start();
    for (let partition = 0; partition < 16; partition++) await broker.append(partition, 1000);
    broker.machine = broker.world.crash('broker', 'everything');
    await broker.start(recoveryThreads);
    assert.deepEqual([broker.manager.logCount, broker.manager.startReport.scannedSegments], [16, 16]);
    assert.equal(broker.reads.mostAtOnce, 2 * recoveryThreads);
  });
}

test('a disk that fails while several logs are looked through takes its directory offline alone, with all logs in it', async () => {
  const broker = await new Broker(1, ['/one', '/two']).start();
  for (let partition = 0; partition < 16; partition++) await broker.append(partition, 1000);
  broker.machine = broker.world.crash('broker', 'everything');
  broker.machine.fileSystem.faults.add({ path: '/one/orders-4/00000000000000000000.log' });
  await broker.start(3);
  assert.deepEqual(broker.offline, ['/one']);
  const paths = Array.from(broker.manager.logs(), ({ path }) => path);
  assert.equal(paths.length, 8);
  assert.ok(
    paths.every((path) => path.startsWith('/two/')),
    paths.join(' '),
  );
});

test('a log that was cut off and ends where it ended before is looked through all the same', async () => {
  let mixtures = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const broker = await new Broker(seed).start();
    for (let count = 0; count < 5; count++) await broker.append(0, 3000, 'o');
    await broker.world.run(broker.manager.close());
    await broker.start();
    // A follower whose leader had others: of the same size, so that only their content tells.
    broker.log(0).truncateTo(3);
    for (let count = 0; count < 2; count++) {
      broker.log(0).appendAsLeader(batch(['n'.repeat(3000)]), { leaderEpoch: 1, origin: 'client' });
    }
    await broker.world.advance(0);
    broker.machine = broker.world.crash('broker', 'something');
    await broker.start();
    const log = broker.log(0);
    if (broker.manager.startReport.truncatedBytes > 0) mixtures += 1;
    for (let offset = 0; offset < log.logEndOffset; offset++) {
      const { records } = await broker.world.run(
        Promise.resolve(log.read(offset, { maxBytes: 1, isolation: 'logEnd', minOneBatch: true })),
      );
      for (const found of iterateBatches(Buffer.concat(records))) assert.ok(found.isCrcValid(), `seed ${seed}, offset ${offset}`);
    }
  }
  assert.ok(mixtures > 5, 'some crashes left half of one and half of the other');
});
