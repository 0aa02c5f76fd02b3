import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iterateBatches } from '@odradek/protocol';
import { type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import { defaultLogConfig } from '../log/log-config.ts';
import { batch, topicId } from '../log/open-log.fixture.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from './log-manager.ts';

class Broker {
  readonly world: SimulatedWorld;
  machine: SimulatedMachine;
  manager!: LogManager;

  constructor(seed = 1) {
    this.world = new SimulatedWorld({ seed });
    this.machine = this.world.machine('broker');
  }

  async start(): Promise<this> {
    this.manager = LogManager.open({ world: this.machine, directories: ['/data'], topicLogConfig: () => defaultLogConfig });
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
    broker.machine.timer.afterThisTurn(count);
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
