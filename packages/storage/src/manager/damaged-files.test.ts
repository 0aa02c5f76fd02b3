// Files of a log directory that somebody or something has damaged: what can be made anew is, and one log that makes no sense does
// not take the others along.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorCodes } from '@odradek/protocol';
import { type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import { batch, topicId } from '../log/open-log.fixture.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { LogManager } from './log-manager.ts';

const config: LogConfig = { ...defaultLogConfig, segmentBytes: 300, fileDeleteDelayMs: 1000 };

class Directory {
  readonly world = new SimulatedWorld({ seed: 1 });
  readonly machine: SimulatedMachine = this.world.machine('broker');
  readonly offline: string[] = [];
  manager!: LogManager;

  async open(): Promise<this> {
    this.manager = LogManager.open({
      world: this.machine,
      directories: ['/data'],
      topicLogConfig: () => config,
      onDirectoryOffline: ({ path }) => this.offline.push(path),
    });
    await this.world.run(this.manager.load());
    return this;
  }

  log(topic: string): PartitionLog {
    return this.manager.getOrCreate({ topic, partition: 0 }, { topicId, config });
  }

  /** Ten records, of leader epochs 0, 0, 0, 1, 1, 1, 2, … */
  async fill(topic: string): Promise<void> {
    for (let count = 0; count < 10; count++) {
      const leaderEpoch = Math.floor(count / 3);
      await this.world.run(this.log(topic).appendAsLeader(batch([`v${count}`]), { leaderEpoch, origin: 'client' }).written);
    }
    this.log(topic).updateHighWatermark(10);
  }

  async close(): Promise<void> {
    await this.world.run(this.manager.close());
  }

  damage(path: string, content: string | Uint8Array): void {
    this.machine.fileSystem.replaceFileSync(path, content);
  }

  /** What the checkpoint says of the topic. */
  lineOf(topic: string, path: string): string | undefined {
    return this.machine.fileSystem
      .readFileSync(path)
      .toString()
      .split('\n')
      .find((line) => line.startsWith(`${topic} `));
  }

  get warnings(): string {
    return this.world.logText.filter((line) => / (WARN|ERROR) /.test(line)).join('');
  }
}

describe('a damaged leader-epoch-checkpoint', () => {
  for (const { name, content } of [
    { name: 'nonsense', content: 'nonsense' },
    { name: 'another version', content: '1\n1\n0 0\n' },
    { name: 'fewer lines than it says', content: '0\n4\n0 0\n1 3\n' },
    { name: 'a line that is none', content: '0\n2\n0 0\nx y\n' },
    { name: 'lines that do not ascend', content: '0\n2\n3 3\n1 0\n' },
  ]) {
    test(`with ${name} is made anew from the batches`, async () => {
      const directory = await new Directory().open();
      await directory.fill('orders');
      await directory.close();
      directory.damage('/data/orders-0/leader-epoch-checkpoint', content);
      await directory.open();
      const log = directory.log('orders');
      assert.deepEqual(
        [0, 1, 2, 3].map((epoch) => log.endOffsetForEpoch(epoch).endOffset),
        [3, 6, 9, 10],
      );
      assert.match(directory.warnings, /leader epochs of a log are damaged/);
      await directory.world.run(log.flush());
      await directory.close();
      assert.deepEqual(directory.offline, []);
    });
  }

  test('counts for nothing of what was deleted', async () => {
    const directory = await new Directory().open();
    await directory.fill('orders');
    directory.log('orders').deleteRecordsBefore(5);
    await directory.close();
    directory.damage('/data/orders-0/leader-epoch-checkpoint', 'nonsense');
    await directory.open();
    assert.deepEqual(directory.log('orders').endOffsetForEpoch(0), { leaderEpoch: 0, endOffset: 5 });
    assert.deepEqual(directory.log('orders').endOffsetForEpoch(1), { leaderEpoch: 1, endOffset: 6 });
    await directory.close();
  });
});

for (const [name, lost] of [
  ['recovery-point-offset-checkpoint', 'nothing'],
  ['replication-offset-checkpoint', 'the high watermark, which the leader finds again'],
  ['log-start-offset-checkpoint', 'the deletion of records within a segment'],
  ['cleaner-offset-checkpoint', 'what is clean'],
] as const) {
  test(`a damaged ${name} loses ${lost}, and no record`, async () => {
    const directory = await new Directory().open();
    await directory.fill('orders');
    await directory.close();
    directory.damage(`/data/${name}`, '0\n7\nhalf a li');
    await directory.open();
    assert.equal(directory.log('orders').logEndOffset, 10);
    assert.match(directory.warnings, /checkpoint is damaged/);
    await directory.close();
    assert.deepEqual(directory.offline, []);
  });
}

describe('a log that cannot be opened though the disk works', () => {
  async function withUnreadable(): Promise<Directory> {
    const directory = await new Directory().open();
    for (const topic of ['orders', 'other']) await directory.fill(topic);
    await directory.close();
    // A transaction index of a format that does not exist.
    const path = '/data/orders-0/00000000000000000000.txnindex';
    directory.damage(path, Buffer.concat([Buffer.from([0, 9]), Buffer.alloc(32)]));
    return directory.open();
  }

  test('is offline alone, and is not made anew', async () => {
    const directory = await withUnreadable();
    assert.deepEqual(directory.offline, []);
    assert.equal(directory.log('other').logEndOffset, 10);
    for (const isNew of [true, false]) {
      assert.throws(() => directory.manager.getOrCreate({ topic: 'orders', partition: 0 }, { topicId, config, isNew }), {
        code: errorCodes.KAFKA_STORAGE_ERROR,
      });
    }
    assert.match(directory.warnings, /A log cannot be opened; its partition is offline/);
    await directory.close();
  });

  test('keeps what the checkpoints say of it, and is recovered when it can be opened again', async () => {
    const directory = await new Directory().open();
    for (const topic of ['orders', 'other']) await directory.fill(topic);
    directory.log('orders').deleteRecordsBefore(4);
    await directory.close();
    directory.machine.fileSystem.removeSync('/data/.kafka_cleanshutdown');
    const checkpoints = ['recovery-point', 'replication', 'log-start'].map((name) => `/data/${name}-offset-checkpoint`);
    const lines = checkpoints.map((path) => directory.lineOf('orders', path));
    const active = directory.machine.fileSystem.listSync('/data/orders-0').findLast((name) => name.endsWith('.log'));
    const damaged = `/data/orders-0/${active?.replace('.log', '.txnindex')}`;
    directory.damage(damaged, Buffer.concat([Buffer.from([0, 9]), Buffer.alloc(32)]));
    await directory.open();
    assert.equal(directory.manager.get({ topic: 'orders', partition: 0 }), undefined);
    await directory.world.advance(100_000);
    await directory.close();
    assert.equal(directory.machine.fileSystem.statSync('/data/.kafka_cleanshutdown'), undefined, 'it has not been recovered');
    assert.deepEqual(
      checkpoints.map((path) => directory.lineOf('orders', path)),
      lines,
    );
    directory.machine.fileSystem.removeSync(damaged);
    await directory.open();
    assert.equal(directory.manager.startReport.isClean, false);
    assert.deepEqual([directory.log('orders').logStartOffset, directory.log('orders').highWatermark], [4, 10]);
    await directory.close();
    assert.notEqual(directory.machine.fileSystem.statSync('/data/.kafka_cleanshutdown'), undefined);
  });

  test('is not deleted while its disk is away', async () => {
    const directory = await withUnreadable();
    directory.machine.fileSystem.faults.add({ path: '/data/orders-0', operations: ['rename'] });
    for (let attempt = 1; attempt <= 2; attempt++) {
      assert.throws(() => directory.manager.delete({ topic: 'orders', partition: 0 }), { code: errorCodes.KAFKA_STORAGE_ERROR });
    }
    assert.deepEqual(directory.offline, ['/data']);
    await directory.close();
  });

  test('can be deleted with its topic', async () => {
    const directory = await withUnreadable();
    directory.manager.delete({ topic: 'orders', partition: 0 });
    assert.equal(directory.log('orders').logEndOffset, 0);
    await directory.world.advance(2000);
    assert.deepEqual(
      directory.machine.fileSystem.listSync('/data').filter((name) => name.startsWith('orders')),
      ['orders-0'],
    );
    await directory.close();
  });
});
