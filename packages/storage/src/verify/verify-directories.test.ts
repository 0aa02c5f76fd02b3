// Each way in which a directory can be wrong is planted, one at a time, and must be found: by its rule, and by no other.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DirectoryInUseError } from '@odradek/runtime';
import { SimulatedDisk } from '@odradek/testing';
import { directoryDamage } from './directory-damage.fixture.ts';
import { type Finding, type VerificationRule, verificationRules } from './findings.ts';
import { logDamage } from './log-damage.fixture.ts';
import { snapshotDamage } from './snapshot-damage.fixture.ts';
import { verifyLogDirectories } from './verify-directories.ts';
import {
  cleanedOffsets,
  DamagedDirectory,
  directory,
  editBatch,
  few,
  highWatermarks,
  many,
  positionOfBatch,
  recoveryPoints,
  second,
  startOffsets,
  writeDirectory,
} from './written-directory.fixture.ts';

const planted = [...logDamage, ...snapshotDamage, ...directoryDamage];

describe('a log directory', () => {
  let files: ReadonlyMap<string, Buffer>;
  before(async () => {
    files = await writeDirectory();
  });

  test('that was left in order has nothing against it, and is not changed', () => {
    const written = new DamagedDirectory(files);
    const report = verifyLogDirectories({ fileSystem: written.disk, directories: [directory] });
    assert.deepEqual(report.findings, []);
    assert.deepEqual([report.logs, report.segments], [2, 5]);
    assert.ok(report.batches > 40);
    for (const [path, bytes] of files) assert.deepEqual(written.read(path), bytes, path);
  });

  for (const { name, plant, rules, file, isMended = false } of planted) {
    test(`${name} is found`, () => {
      const damaged = new DamagedDirectory(files);
      plant(damaged);
      const findings = damaged.verify();
      const text = findings.map(({ rule, path, position, detail }) => `${rule} ${path} ${position} ${detail}`).join('\n');
      assert.deepEqual([...new Set(findings.map(({ rule }) => rule))].sort(), rules, text);
      assert.ok(
        findings.some(({ path }) => path.endsWith(file)),
        text,
      );
      assert.equal(findings.every((finding) => finding.isMended) && findings.length > 0, isMended, text);
    });
  }

  test('has no rule that is not planted here', () => {
    const found = new Set([...planted.flatMap(({ rules }) => rules), 'duplicate-log']);
    assert.deepEqual(
      Object.keys(verificationRules).filter((rule) => !found.has(rule)),
      [],
    );
  });

  test('must agree with the others of its broker, and share no partition with them', () => {
    const damaged = new DamagedDirectory(files);
    for (const [path, bytes] of files) damaged.put(path.replace(directory, '/other'), bytes);
    const both = [directory, '/other'];
    assert.deepEqual(rulesOf(damaged.verify(both)), ['duplicate-log', 'duplicate-log']);
    damaged.remove('/other/orders-0');
    damaged.remove('/other/orders-1');
    for (const name of ['recovery-point', 'replication', 'log-start']) damaged.put(`/other/${name}-offset-checkpoint`, '');
    assert.deepEqual(rulesOf(damaged.verify(both)), []);
    damaged.editText('/other/meta.properties', 'broker.id=1', 'broker.id=2');
    damaged.editText('/other/meta.properties', /cluster\.id=.*/, 'cluster.id=another');
    assert.deepEqual(rulesOf(damaged.verify(both)), ['meta-properties', 'meta-properties']);
  });

  test('without the mark of an orderly stop is mended from its recovery point on, and not before', () => {
    for (const [recoveryPoint, isMended] of [
      [30, true],
      [60, false],
    ] as const) {
      const damaged = new DamagedDirectory(files);
      damaged.remove(`${directory}/.kafka_cleanshutdown`);
      damaged.put(recoveryPoints, `0\n2\norders 0 ${recoveryPoint}\norders 1 8\n`);
      assert.deepEqual(damaged.verify(), []);
      editBatch(damaged, `${second}.log`, 2, (batch) => void (batch.bytes()[70]! ^= 4));
      assert.deepEqual(
        damaged.verify().map((finding) => [finding.rule, finding.isMended]),
        [['batch-crc', isMended]],
      );
      const [{ position } = { position: -1 }] = damaged.verify();
      assert.equal(position, positionOfBatch(damaged, `${second}.log`, 2));
    }
  });

  test('may have gaps where a topic is compacted', () => {
    const damaged = new DamagedDirectory(files);
    for (const name of damaged.names(many, '').filter((each) => each.startsWith('00000000000000000019.')))
      damaged.remove(`${many}/${name}`);
    assert.deepEqual(rulesOf(damaged.verify()), ['offset-gap']);
    const compactedTopics = new Set(['orders']);
    const { findings } = verifyLogDirectories({ fileSystem: damaged.disk, directories: [directory], compactedTopics });
    assert.deepEqual(findings, []);
    damaged.put(cleanedOffsets, '0\n1\norders 0 37\n');
    assert.deepEqual(damaged.verify(), []);
  });

  test('may be clean up to a log start that lies within the active segment (cleaner history 2001969)', () => {
    const written = new DamagedDirectory(files);
    written.put(startOffsets, '0\n2\norders 0 2\norders 1 4\n');
    written.put(highWatermarks, '0\n2\norders 0 74\norders 1 8\n');
    written.put(cleanedOffsets, '0\n1\norders 1 4\n');
    written.put(`${few}/leader-epoch-checkpoint`, '0\n1\n4 4\n');
    assert.deepEqual(written.verify(), []);
    written.put(cleanedOffsets, '0\n1\norders 1 5\n');
    assert.deepEqual(rulesOf(written.verify()), ['cleaner-offset']);
  });

  test('is verified for one topic alone when asked', () => {
    const damaged = new DamagedDirectory(files);
    editBatch(damaged, `${second}.log`, 2, (batch) => void (batch.bytes()[70]! ^= 4));
    const report = verifyLogDirectories({ fileSystem: damaged.disk, directories: [directory], topics: new Set(['others']) });
    assert.deepEqual([report.logs, report.findings], [0, []]);
  });

  test('may have things of somebody’s own beside its logs', () => {
    const written = new DamagedDirectory(files);
    for (const folder of ['lost+found', 'backup-1', 'my backup-1', 'old-delete']) {
      written.disk.makeDirectorySync(`${directory}/${folder}`);
      written.put(`${directory}/${folder}/notes`, 'mine');
    }
    assert.deepEqual(written.verify(), []);
  });

  test('that a broker holds is not looked at', () => {
    const written = new DamagedDirectory(files);
    const lock = written.disk.lockDirectorySync(directory);
    assert.throws(() => written.verify(), DirectoryInUseError);
    lock.release();
    assert.deepEqual(written.verify(), []);
    written.disk.lockDirectorySync(directory).release();
  });

  test('that is a copy without a lock gets none', () => {
    const copy = new DamagedDirectory(files);
    copy.remove(`${directory}/.lock`);
    assert.deepEqual(copy.verify(), []);
    assert.ok(!copy.disk.listSync(directory).includes('.lock'));
  });

  test('that is not there is no directory without findings', () => {
    assert.throws(() => verifyLogDirectories({ fileSystem: new SimulatedDisk(), directories: ['/nowhere'] }), { code: 'ENOENT' });
  });
});

function rulesOf(findings: readonly Finding[]): VerificationRule[] {
  return findings.map(({ rule }) => rule);
}
