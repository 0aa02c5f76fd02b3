import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorCodes } from '@odradek/protocol';
import { type SimulatedMachine, SimulatedWorld } from '@odradek/testing';
import { defaultLogConfig, type LogConfig } from '../log/log-config.ts';
import { batch, topicId } from '../log/open-log.fixture.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import type { LogDirectory } from './log-directory.ts';
import { LogManager } from './log-manager.ts';

const otherId = 'AAAAAAAAAAAAAAAAAAAAAQ';

class Managed {
  readonly world = new SimulatedWorld({ seed: 1 });
  machine: SimulatedMachine = this.world.machine('broker');
  readonly offline: string[] = [];
  topicLogConfig = (): LogConfig => defaultLogConfig;
  manager!: LogManager;

  async open(directories: readonly string[] = ['/one', '/two']): Promise<this> {
    this.manager = LogManager.open({
      world: this.machine,
      directories,
      topicLogConfig: () => this.topicLogConfig(),
      onDirectoryOffline: ({ path }) => this.offline.push(path),
    });
    await this.world.run(this.manager.load());
    return this;
  }

  log(topic: string, partition = 0, id = topicId): PartitionLog {
    return this.manager.getOrCreate({ topic, partition }, { topicId: id, config: defaultLogConfig });
  }

  async append(topic: string, value = 'v'): Promise<void> {
    const log = this.manager.get({ topic, partition: 0 }) ?? this.log(topic);
    await this.world.run(log.appendAsLeader(batch([value]), { leaderEpoch: 0, origin: 'client' }).written);
  }

  text(path: string): string {
    return this.machine.fileSystem.readFileSync(path).toString();
  }

  directory(index: number): LogDirectory {
    return this.manager.directories[index]!;
  }
}

test('new logs go where the fewest are, with the topic’s id, and are found again', async () => {
  const managed = await new Managed().open();
  for (let partition = 0; partition < 4; partition++) managed.log('orders', partition);
  assert.deepEqual(
    [...managed.manager.logs()].map(({ directory }) => directory.path),
    ['/one', '/two', '/one', '/two'],
  );
  assert.equal(managed.text('/one/orders-0/partition.metadata'), `version: 0\ntopic_id: ${topicId}`);
  await managed.world.run(managed.manager.close());
  await managed.open();
  assert.equal(managed.manager.logCount, 4);
  assert.equal(managed.manager.get({ topic: 'orders', partition: 2 })?.topicId, topicId);
  assert.throws(() => managed.log('orders', 2, otherId), { code: errorCodes.INCONSISTENT_TOPIC_ID });
});

test('an orderly stop leaves checkpoints and its mark, which the next start takes away', async () => {
  const managed = await new Managed().open(['/data']);
  await managed.append('orders');
  managed.log('orders').updateHighWatermark(1);
  await managed.world.run(managed.manager.close());
  assert.equal(managed.text('/data/recovery-point-offset-checkpoint'), '0\n1\norders 0 1\n');
  assert.equal(managed.text('/data/replication-offset-checkpoint'), '0\n1\norders 0 1\n');
  assert.equal(managed.text('/data/log-start-offset-checkpoint'), '0\n0\n');
  assert.match(managed.text('/data/.kafka_cleanshutdown'), /"version":0/);
  await managed.open(['/data']);
  assert.equal(managed.manager.startReport.isClean, true);
  assert.equal(managed.log('orders').highWatermark, 1);
  assert.equal(managed.machine.fileSystem.statSync('/data/.kafka_cleanshutdown'), undefined);
});

test('a start that ends before the logs are opened leaves the directory as the last stop has left it', async () => {
  const managed = await new Managed().open(['/data']);
  for (const value of ['first', 'second']) await managed.append('orders', value);
  managed.log('orders').updateHighWatermark(2);
  managed.log('orders').deleteRecordsBefore(1);
  await managed.world.run(managed.manager.checkpoint());
  const names = ['recovery-point-offset-checkpoint', 'replication-offset-checkpoint', 'log-start-offset-checkpoint'];
  const left = names.map((name) => managed.text(`/data/${name}`));
  managed.machine = managed.world.crash('broker', 'everything');
  const { machine } = managed;
  const unopened = LogManager.open({ world: machine, directories: ['/data'], topicLogConfig: () => defaultLogConfig });
  await managed.world.run(unopened.close());
  assert.deepEqual(
    names.map((name) => managed.text(`/data/${name}`)),
    left,
  );
  await managed.open(['/data']);
  assert.equal(managed.manager.startReport.isClean, false, 'there is no mark of a clean stop');
  assert.deepEqual([managed.log('orders').logStartOffset, managed.log('orders').highWatermark], [1, 2]);
});

test('a start writes no checkpoints before it knows all logs of which they tell', async () => {
  const managed = await new Managed().open();
  for (const partition of [0, 1]) managed.log('orders', partition);
  for (let partition = 0; partition < 200; partition++) managed.log('zebra', partition);
  for (const log of managed.manager.logs()) {
    for (const value of ['first', 'second']) log.appendAsLeader(batch([value]), { leaderEpoch: 0, origin: 'client' });
    log.writeStaged();
    log.updateHighWatermark(2);
    log.deleteRecordsBefore(1);
  }
  await managed.world.run(managed.manager.checkpoint());
  managed.machine = managed.world.crash('broker', 'everything');
  // As a crash in the middle of a move may leave it.
  const { fileSystem } = managed.machine;
  fileSystem.makeDirectorySync('/two/orders-0');
  for (const name of fileSystem.listSync('/one/orders-0'))
    fileSystem.replaceFileSync(`/two/orders-0/${name}`, fileSystem.readFileSync(`/one/orders-0/${name}`));
  const found = new Set<string>();
  managed.topicLogConfig = () => {
    found.add(managed.text('/one/log-start-offset-checkpoint') + managed.text('/two/log-start-offset-checkpoint'));
    return defaultLogConfig;
  };
  await managed.open();
  assert.equal(found.size, 1);
  assert.equal(managed.manager.logCount, 202);
  await managed.world.advance(10);
  const folders = ['/one', '/two'].flatMap((path) => fileSystem.listSync(path)).filter((name) => name.startsWith('orders-0'));
  assert.deepEqual(folders.map((name) => name.replace(/[0-9a-f]{32}/, 'ID')).sort(), ['orders-0', 'orders-0.ID-delete']);
});

describe('what a checkpoint tells of a log that is gone is not taken for true of the next of its name', () => {
  async function withDeletedRecords(): Promise<Managed> {
    const managed = await new Managed().open(['/data']);
    for (const value of ['first', 'second', 'third']) await managed.append('orders', value);
    managed.log('orders').updateHighWatermark(3);
    managed.log('orders').deleteRecordsBefore(3);
    await managed.world.run(managed.manager.checkpoint());
    return managed;
  }

  async function assertKeepsWhatIsNew(managed: Managed): Promise<void> {
    await managed.append('orders', 'new');
    managed.machine = managed.world.crash('broker', 'everything');
    await managed.open(['/data']);
    const { logStartOffset, logEndOffset } = managed.log('orders', 0, otherId);
    assert.deepEqual([logStartOffset, logEndOffset], [0, 1]);
  }

  test('where somebody has removed its folder', async () => {
    const managed = await withDeletedRecords();
    await managed.world.run(managed.manager.close());
    managed.machine.fileSystem.removeSync('/data/orders-0');
    await managed.open(['/data']);
    managed.log('orders', 0, otherId);
    await assertKeepsWhatIsNew(managed);
  });

  test('where the disk was too full for another checkpoint when it was deleted', async () => {
    const managed = await withDeletedRecords();
    const { faults } = managed.machine.fileSystem;
    faults.add({ path: '/data/', operations: ['open', 'write'], code: 'ENOSPC' });
    managed.manager.delete({ topic: 'orders', partition: 0 });
    await managed.world.advance(10);
    faults.clear();
    managed.log('orders', 0, otherId);
    await assertKeepsWhatIsNew(managed);
  });
});

describe('a directory', () => {
  test('is for one process', async () => {
    const managed = await new Managed().open(['/data']);
    assert.throws(
      () => LogManager.open({ world: managed.machine, directories: ['/data'], topicLogConfig: () => defaultLogConfig }),
      /locked/,
    );
  });

  test('that another broker uses, or that is named twice, is not left out for the others', async () => {
    const managed = await new Managed().open(['/two']);
    const { machine } = managed;
    const open = (directories: readonly string[]): LogManager =>
      LogManager.open({ world: machine, directories, topicLogConfig: () => defaultLogConfig });
    assert.throws(() => open(['/one', '/two', '/three']), /\/two is locked/);
    assert.throws(() => open(['/one', '/three', '/one']), /\/one is named twice/);
    assert.throws(() => open(['/one', '/one/']), /\/one\/ is locked/);
    assert.deepEqual(
      open(['/one', '/three']).directories.map(({ isOnline }) => isOnline),
      [true, true],
    );
  });

  test('belongs to one broker of one cluster', async () => {
    const managed = await new Managed().open(['/data']);
    managed.manager.claim(1, 'cluster-a');
    managed.manager.claim(1, 'cluster-a');
    assert.match(managed.text('/data/meta.properties'), /^broker\.id=1$/m);
    assert.throws(() => managed.manager.claim(2, 'cluster-a'), /belongs to broker 1/);
    assert.throws(() => managed.manager.claim(1, 'cluster-b'), /belongs to the cluster cluster-a/);
  });

  test('that cannot be used at the start is offline, and the broker does with the others', async () => {
    const managed = new Managed();
    managed.machine.fileSystem.faults.add({ path: '/one', operations: ['write', 'open'], code: 'EROFS' });
    await managed.open();
    assert.deepEqual(managed.offline, ['/one']);
    assert.equal(managed.log('orders').directory.path, '/two');
    await assert.rejects(new Managed().open([]), /No log directory can be used/);
    await assert.rejects(managed.open(['/one']), /No log directory can be used: \/one: EROFS: /);
    assert.deepEqual(managed.offline, ['/one'], 'what the start fails with need not be said before');
  });

  test('that is offline may hold a log that is to be deleted, which is said not to be gone before the disk is back', async () => {
    const managed = await new Managed().open();
    for (const partition of [0, 1]) managed.log('orders', partition);
    await managed.world.run(managed.manager.close());
    managed.machine.fileSystem.faults.add({ path: '/one' });
    await managed.open();
    assert.throws(() => managed.manager.delete({ topic: 'orders', partition: 0 }), { code: errorCodes.KAFKA_STORAGE_ERROR });
    managed.manager.delete({ topic: 'orders', partition: 1 });
    assert.equal(managed.manager.logCount, 0);
    await managed.world.run(managed.manager.close());
    managed.machine.fileSystem.faults.clear();
    await managed.open();
    managed.manager.delete({ topic: 'orders', partition: 0 });
    assert.equal(managed.manager.logCount, 0);
    managed.manager.delete({ topic: 'never-here', partition: 0 });
  });

  test('whose disk fails while its logs are opened is offline, and without another the start ends', async () => {
    const managed = await new Managed().open();
    for (const partition of [0, 1]) managed.log('orders', partition);
    await managed.world.run(managed.manager.close());
    const { faults } = managed.machine.fileSystem;
    faults.add({ path: '/one/orders-0' });
    await managed.open();
    assert.deepEqual([managed.offline, managed.manager.logCount], [['/one'], 1]);
    await managed.world.run(managed.manager.close());
    faults.add({ path: '/two/orders-1' });
    await assert.rejects(managed.open(), /No log directory can be used: .*\/one.*; .*\/two/);
    await managed.world.run(managed.manager.close());
    for (const path of ['/one', '/two'])
      assert.equal(managed.machine.fileSystem.statSync(`${path}/.kafka_cleanshutdown`), undefined, path);
  });

  test('whose description cannot be read, or not be written, is offline too', async () => {
    const managed = await new Managed().open();
    managed.manager.claim(1, 'cluster-a');
    await managed.world.run(managed.manager.close());
    const { faults } = managed.machine.fileSystem;
    faults.add({ path: '/one/meta.properties', operations: ['open', 'read'] });
    faults.add({ path: '/three/meta.properties', operations: ['write'], code: 'ENOSPC' });
    await managed.open(['/one', '/two', '/three']);
    assert.deepEqual(managed.offline, ['/one']);
    managed.manager.claim(1, 'cluster-a');
    assert.deepEqual(managed.offline, ['/one', '/three']);
    await managed.world.run(managed.manager.close());
    await assert.rejects(managed.open(['/one']), /No log directory can be used/);
  });

  test('that fails takes its logs with it, and only those', async () => {
    const managed = await new Managed().open();
    managed.log('orders', 0);
    managed.log('orders', 1);
    managed.machine.fileSystem.faults.add({ path: '/one' });
    await assert.rejects(managed.append('orders'), { code: errorCodes.KAFKA_STORAGE_ERROR });
    await managed.world.advance(10);
    assert.deepEqual(managed.offline, ['/one']);
    assert.equal(managed.manager.get({ topic: 'orders', partition: 0 }), undefined);
    assert.ok(managed.manager.get({ topic: 'orders', partition: 1 }));
    const known = { topicId, config: defaultLogConfig, isNew: false };
    assert.throws(() => managed.manager.getOrCreate({ topic: 'orders', partition: 0 }, known), {
      code: errorCodes.KAFKA_STORAGE_ERROR,
    });
    assert.equal(managed.log('fresh').directory.path, '/two');
    await managed.world.run(managed.manager.close());
    assert.equal(managed.machine.fileSystem.statSync('/two/.kafka_cleanshutdown') !== undefined, true);
  });

  test('keeps what is none of its logs, and removes what was being deleted', async () => {
    const managed = new Managed();
    const { fileSystem } = managed.machine;
    const ours = ['__cluster_metadata-0', 'orders-0.0123-stray', 'orders-1.0123-future'];
    const likeOurs = ['coordination', 'lost+found', 'old-delete', 'backup-20240101', 'backup-1', 'my backup-1'];
    const deleted = `orders-2.${'0123'.repeat(8)}-delete`;
    for (const name of [...ours, ...likeOurs, deleted]) {
      fileSystem.makeDirectorySync(`/data/${name}`);
      fileSystem.replaceFileSync(`/data/${name}/notes`, 'mine');
    }
    await managed.open(['/data']);
    assert.equal(managed.manager.logCount, 0);
    assert.deepEqual(managed.manager.findPartitions(), []);
    for (const name of [...ours, ...likeOurs]) assert.equal(managed.text(`/data/${name}/notes`), 'mine', name);
    assert.equal(fileSystem.statSync(`/data/${deleted}`), undefined);
  });

  test('is used though what was being deleted in it cannot be removed', async () => {
    const managed = await new Managed().open(['/data']);
    await managed.append('orders');
    await managed.append('other');
    managed.manager.delete({ topic: 'other', partition: 0 });
    await managed.world.run(managed.manager.close());
    managed.machine.fileSystem.faults.add({ path: /-delete/, operations: ['remove'], code: 'EBUSY' });
    await managed.open(['/data']);
    assert.deepEqual([managed.offline, managed.log('orders').logEndOffset], [[], 1]);
    managed.machine.fileSystem.faults.clear();
    await managed.world.run(managed.manager.close());
    await managed.open(['/data']);
    assert.ok(managed.machine.fileSystem.listSync('/data').every((name) => !name.endsWith('-delete')));
  });

  test('an empty folder may be all that a crash has left of a log, and is taken for one', async () => {
    const managed = new Managed();
    const { fileSystem } = managed.machine;
    for (const name of ['orders-0', 'orders-1', 'orders-2']) fileSystem.makeDirectorySync(`/data/${name}`);
    fileSystem.replaceFileSync('/data/orders-1/notes', 'mine');
    await managed.open(['/data']);
    const log = (partition: number): PartitionLog | undefined => managed.manager.get({ topic: 'orders', partition });
    assert.deepEqual([log(0)?.logEndOffset, log(1), log(2)?.logEndOffset], [0, undefined, 0]);
    for (const partition of [0, 1]) managed.manager.delete({ topic: 'orders', partition });
    managed.manager.putAside(log(2)!);
    const left = fileSystem.listSync('/data').filter((name) => name.startsWith('orders'));
    assert.deepEqual(
      left.map((name) => name.replace(/[0-9a-f]{32}/, 'ID')),
      ['orders-0.ID-delete', 'orders-1', 'orders-2.ID-stray'],
    );
    assert.equal(managed.text('/data/orders-1/notes'), 'mine');
  });
});

describe('a deleted log', () => {
  test('is gone at once, its folder later, and a new one of its name begins at 0', async () => {
    const managed = await new Managed().open(['/data']);
    await managed.append('orders', 'old');
    managed.manager.delete({ topic: 'orders', partition: 0 });
    assert.equal(managed.manager.get({ topic: 'orders', partition: 0 }), undefined);
    const folders = (): string[] => managed.machine.fileSystem.listSync('/data').filter((name) => name.startsWith('orders'));
    assert.match(folders().join(), /^orders-0\.[0-9a-f]{32}-delete$/);
    assert.equal(managed.log('orders', 0, otherId).logEndOffset, 0);
    await managed.world.advance(defaultLogConfig.fileDeleteDelayMs + 100);
    assert.deepEqual(folders(), ['orders-0']);
  });

  test('leaves nothing behind that could be taken for the new one’s after a crash', async () => {
    for (const leaves of ['nothing', 'something', 'everything'] as const) {
      const managed = await new Managed().open(['/data']);
      for (let count = 0; count < 5; count++) await managed.append('orders', 'old');
      managed.log('orders').updateHighWatermark(5);
      managed.log('orders').deleteRecordsBefore(4);
      await managed.world.run(managed.log('orders').flush());
      await managed.world.run(managed.manager.checkpoint());
      managed.manager.delete({ topic: 'orders', partition: 0 });
      const made = managed.log('orders', 0, otherId);
      await managed.world.run(made.appendAsLeader(batch(['new']), { leaderEpoch: 0, origin: 'client' }).written);
      await managed.world.run(made.flush());
      managed.machine = managed.world.crash('broker', leaves);
      await managed.open(['/data']);
      const log = managed.log('orders', 0, otherId);
      assert.deepEqual([log.logStartOffset, log.logEndOffset, log.highWatermark], [0, 1, 0], leaves);
    }
  });

  test('with the longest name a topic may have is renamed within what a file name may be', async () => {
    const managed = await new Managed().open(['/data']);
    managed.log('t'.repeat(249));
    managed.manager.delete({ topic: 't'.repeat(249), partition: 0 });
    const [name = ''] = managed.machine.fileSystem.listSync('/data').filter((each) => each.startsWith('ttt'));
    assert.equal(name.length, 255);
    assert.match(name, /-delete$/);
  });
});

describe('as time goes by', () => {
  const day = 24 * 3600 * 1000;

  test('checkpoints are written, but not again while nothing changes', async () => {
    const managed = await new Managed().open(['/data']);
    await managed.append('orders');
    managed.log('orders').updateHighWatermark(1);
    await managed.world.advance(6000);
    assert.equal(managed.text('/data/replication-offset-checkpoint'), '0\n1\norders 0 1\n');
    managed.machine.fileSystem.removeSync('/data/replication-offset-checkpoint');
    await managed.world.advance(60_000);
    assert.equal(managed.machine.fileSystem.statSync('/data/replication-offset-checkpoint'), undefined);
  });

  test('segments that have been kept long enough are deleted, the active one too, but nothing that is not replicated', async () => {
    const managed = await new Managed().open(['/data']);
    for (let count = 0; count < 3; count++) {
      await managed.append('orders');
      managed.log('orders').roll();
    }
    await managed.append('orders');
    managed.log('orders').updateHighWatermark(2);
    await managed.world.advance(8 * day);
    assert.deepEqual([managed.log('orders').logStartOffset, managed.log('orders').logEndOffset], [2, 4]);
    managed.log('orders').updateHighWatermark(4);
    await managed.world.advance(600_000);
    assert.deepEqual([managed.log('orders').logStartOffset, managed.log('orders').sizeBytes], [4, 0]);
    await managed.append('orders');
    assert.equal(managed.log('orders').logEndOffset, 5);
  });

  test('flush.ms forces what was written to the device', async () => {
    const managed = new Managed();
    managed.manager = LogManager.open({
      world: managed.machine,
      directories: ['/data'],
      topicLogConfig: () => defaultLogConfig,
      intervals: { flushCheckMs: 1000 },
    });
    await managed.world.run(managed.manager.load());
    managed.log('orders').updateConfig({ ...defaultLogConfig, flushMs: 5000 });
    await managed.append('orders');
    await managed.world.advance(10_000);
    managed.machine = managed.world.crash('broker', 'nothing');
    await managed.open(['/data']);
    assert.equal(managed.log('orders').logEndOffset, 1);
  });
});
