// Each way in which a directory can be wrong is planted, one at a time, and must be found: by its rule, and by no other.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { crc32c, iterateBatches, type RecordBatch } from '@odradek/protocol';
import { SimulatedDisk } from '@odradek/testing';
import { decodeSnapshot, encodeSnapshot } from '../log/producer-snapshot.ts';
import type { ProducerState } from '../log/producer-states.ts';
import { type Finding, type VerificationRule, verificationRules } from './findings.ts';
import { DirectoryInUseError, verifyLogDirectories } from './verify-directories.ts';
import { DamagedDirectory, directory, few, many, writeDirectory } from './written-directory.fixture.ts';

interface Planted {
  readonly name: string;
  readonly plant: (damaged: DamagedDirectory) => void;
  /** All that is to be found, in alphabetical order. */
  readonly rules: readonly VerificationRule[];
  /** The file that is to be named, from its end. */
  readonly file: string;
  readonly isMended?: boolean;
}

const first = `${many}/00000000000000000000`;
const second = `${many}/00000000000000000019`;
const last = `${many}/00000000000000000055`;
const recoveryPoints = `${directory}/recovery-point-offset-checkpoint`;
const highWatermarks = `${directory}/replication-offset-checkpoint`;
const startOffsets = `${directory}/log-start-offset-checkpoint`;
const cleanedOffsets = `${directory}/cleaner-offset-checkpoint`;
const deletedLog = `${directory}/orders-2.0123456789abcdef0123456789abcdef-delete`;
const strayLog = `${directory}/orders-2.0123456789abcdef0123456789abcdef-stray`;
const futureLog = `${directory}/orders-2.0123456789abcdef0123456789abcdef-future`;

const planted: readonly Planted[] = [
  // The records
  {
    name: 'a file that ends within a batch',
    plant: (d) => d.edit(`${few}/00000000000000000000.log`, (bytes) => bytes.subarray(0, bytes.length - 3)),
    rules: ['batch-size', 'recovery-point', 'snapshot-offset', 'time-index-offset'],
    file: '00000000000000000000.log',
  },
  {
    name: 'a size that no batch has',
    plant: (d) => editBatch(d, `${last}.log`, -1, (batch) => batch.bytes().writeInt32BE(7, 8)),
    rules: ['batch-size', 'high-watermark', 'recovery-point', 'snapshot-offset', 'time-index-offset'],
    file: '00000000000000000055.log',
  },
  {
    name: 'a magic that does not exist',
    plant: (d) => editBatch(d, `${last}.log`, -1, (batch) => batch.bytes().writeInt8(9, 16)),
    rules: ['batch-format', 'high-watermark', 'recovery-point', 'snapshot-offset', 'time-index-offset'],
    file: '00000000000000000055.log',
  },
  {
    name: 'a flipped bit in a record',
    plant: (d) => editBatch(d, `${second}.log`, 2, (batch) => void (batch.bytes()[70]! ^= 4)),
    rules: ['batch-crc'],
    file: '00000000000000000019.log',
  },
  {
    name: 'a count of records that are not there',
    plant: (d) => editBatch(d, `${second}.log`, 2, (batch) => batch.bytes().writeInt32BE(3, 57), 'with checksum'),
    rules: ['batch-records'],
    file: '00000000000000000019.log',
  },
  {
    name: 'records with descending offsets',
    plant: (d) => editBatch(d, `${second}.log`, 2, (batch) => void (batch.bytes()[64] = 6), 'with checksum'),
    rules: ['batch-records'],
    file: '00000000000000000019.log',
  },
  {
    name: 'a largest timestamp that no record has',
    plant: (d) => editBatch(d, `${second}.log`, 2, (batch) => batch.setMaxTimestamp('CreateTime', batch.maxTimestamp + 1)),
    rules: ['max-timestamp', 'time-index-offset'],
    file: '00000000000000000019.log',
  },
  {
    name: 'a batch with offsets that were there before',
    plant: (d) => editBatch(d, `${second}.log`, 1, (batch) => batch.setBaseOffset(batch.baseOffset - 1)),
    rules: ['offset-gap', 'offset-order'],
    file: '00000000000000000019.log',
  },
  {
    name: 'a batch with offsets of the next segment',
    plant: (d) => editBatch(d, `${first}.log`, -1, (batch) => batch.setBaseOffset(batch.baseOffset + 1)),
    rules: ['offset-gap', 'offset-order', 'offset-range', 'snapshot-offset'],
    file: '00000000000000000000.log',
  },
  {
    name: 'a gap',
    plant: (d) =>
      d.edit(`${second}.log`, (bytes) =>
        Buffer.concat(
          batchesIn(bytes)
            .map((batch) => batch.bytes())
            .toSpliced(1, 1),
        ),
      ),
    rules: ['index-position', 'offset-gap'],
    file: '00000000000000000019.log',
  },
  {
    name: 'a segment that is gone',
    plant: (d) => {
      for (const name of d.names(many, '').filter((each) => each.startsWith('00000000000000000019.'))) d.remove(`${many}/${name}`);
    },
    rules: ['offset-gap'],
    file: '00000000000000000037.log',
  },
  // Leader epochs
  {
    name: 'a batch of an earlier leader',
    plant: (d) => editBatch(d, `${last}.log`, 3, (batch) => batch.setPartitionLeaderEpoch(2)),
    rules: ['leader-epoch-agreement', 'leader-epoch-order'],
    file: '00000000000000000055.log',
  },
  {
    name: 'leader epochs that descend in their file',
    plant: (d) => d.put(`${many}/leader-epoch-checkpoint`, '0\n3\n1 2\n4 37\n3 60\n'),
    rules: ['leader-epoch-agreement', 'leader-epoch-file'],
    file: 'leader-epoch-checkpoint',
  },
  {
    name: 'a leader epoch that begins after the end',
    plant: (d) => d.put(`${many}/leader-epoch-checkpoint`, '0\n3\n1 2\n4 37\n5 75\n'),
    rules: ['leader-epoch-file'],
    file: 'leader-epoch-checkpoint',
  },
  {
    name: 'a file of leader epochs that is cut off',
    plant: (d) => d.put(`${many}/leader-epoch-checkpoint`, '0\n2\n1 2\n'),
    rules: ['leader-epoch-agreement', 'leader-epoch-file'],
    file: 'leader-epoch-checkpoint',
  },
  {
    name: 'a leader epoch that the file does not know',
    plant: (d) => d.put(`${many}/leader-epoch-checkpoint`, '0\n1\n1 2\n'),
    rules: ['leader-epoch-agreement'],
    file: 'leader-epoch-checkpoint',
  },
  // Indexes
  { name: 'no offset index', plant: (d) => d.remove(`${second}.index`), rules: ['index-missing'], file: '19.log', isMended: true },
  {
    name: 'no time index',
    plant: (d) => d.remove(`${second}.timeindex`),
    rules: ['index-missing'],
    file: '19.log',
    isMended: true,
  },
  {
    name: 'an index that ends within an entry',
    plant: (d) => d.edit(`${second}.index`, (bytes) => Buffer.concat([bytes, Buffer.from([1, 2, 3])])),
    rules: ['index-size'],
    file: '19.index',
  },
  {
    name: 'zeros in the index of a closed segment',
    plant: (d) => d.edit(`${second}.timeindex`, (bytes) => Buffer.concat([bytes, Buffer.alloc(24)])),
    rules: ['index-size'],
    file: '19.timeindex',
  },
  {
    name: 'a transaction index that ends within an entry',
    plant: (d) => d.edit(`${second}.txnindex`, (bytes) => Buffer.concat([bytes, bytes.subarray(0, 5)])),
    rules: ['index-size'],
    file: '19.txnindex',
  },
  {
    name: 'entries of an offset index in the wrong order',
    plant: (d) => d.edit(`${second}.index`, (bytes) => swapped(bytes, 8)),
    rules: ['index-order', 'index-position'],
    file: '19.index',
  },
  {
    name: 'an index entry beside a batch',
    plant: (d) => d.edit(`${second}.index`, (bytes) => void bytes.writeInt32BE(bytes.readInt32BE(12) + 1, 12)),
    rules: ['index-position'],
    file: '19.index',
  },
  {
    name: 'an index entry beyond the records',
    plant: (d) => d.edit(`${second}.index`, (bytes) => Buffer.concat([bytes, int32s(18, 5000)])),
    rules: ['index-position'],
    file: '19.index',
  },
  {
    name: 'an index entry with the first offset of its batch',
    plant: (d) => d.edit(`${second}.index`, (bytes) => void bytes.writeInt32BE(bytes.readInt32BE(8) - 1, 8)),
    rules: ['index-offset'],
    file: '19.index',
  },
  {
    name: 'an index entry with an offset before its batch',
    plant: (d) => d.edit(`${second}.index`, (bytes) => void bytes.writeInt32BE(bytes.readInt32BE(8) - 2, 8)),
    rules: ['index-offset'],
    file: '19.index',
  },
  {
    name: 'entries of a time index in the wrong order',
    plant: (d) => d.edit(`${second}.timeindex`, (bytes) => swapped(bytes, 12)),
    rules: ['index-order', 'time-index-offset'],
    file: '19.timeindex',
  },
  {
    name: 'a time index entry with a timestamp that is not there',
    plant: (d) => d.edit(`${second}.timeindex`, (bytes) => void bytes.writeBigInt64BE(bytes.readBigInt64BE(0) - 1n, 0)),
    rules: ['time-index-offset'],
    file: '19.timeindex',
  },
  {
    name: 'a time index entry for a batch that is not there',
    plant: (d) => d.edit(`${last}.timeindex`, (bytes) => Buffer.concat([bytes, int64(1e15), int32s(900)])),
    rules: ['time-index-offset'],
    file: '55.timeindex',
  },
  {
    name: 'a time index entry that overlooks a later time',
    plant: (d) => {
      const [early, late] = batchesIn(d.read(`${second}.log`)).flatMap((batch, index, all) => {
        const next = all[index + 1];
        return next !== undefined && next.maxTimestamp < batch.maxTimestamp ? [batch, next] : [];
      });
      assert.ok(early !== undefined && late !== undefined);
      const entries = [int64(late.maxTimestamp), int32s(late.lastOffset - 19)];
      d.edit(`${second}.timeindex`, (bytes) => Buffer.concat([...entries, bytes.subarray(-12)]));
    },
    rules: ['time-index-max'],
    file: '19.timeindex',
  },
  {
    name: 'a time index without its last entry',
    plant: (d) => d.edit(`${second}.timeindex`, (bytes) => bytes.subarray(0, -12)),
    rules: ['time-index-end'],
    file: '19.timeindex',
  },
  ...transactionIndexCases(),
  // Producers
  {
    name: 'a flipped bit in a snapshot',
    plant: (d) => d.edit(`${second}.snapshot`, (bytes) => void (bytes[20]! ^= 1)),
    rules: ['snapshot-damaged'],
    file: '19.snapshot',
  },
  {
    name: 'a flipped bit in the last snapshot',
    plant: (d) => d.edit(`${many}/00000000000000000074.snapshot`, (bytes) => void (bytes[20]! ^= 1)),
    rules: ['snapshot-damaged'],
    file: '74.snapshot',
    isMended: true,
  },
  {
    name: 'a snapshot beyond the end',
    plant: (d) => d.rename(`${many}/00000000000000000074.snapshot`, `${many}/00000000000000000090.snapshot`),
    rules: ['snapshot-offset'],
    file: '90.snapshot',
  },
  {
    name: 'a snapshot of the middle of a batch',
    plant: (d) => d.rename(`${second}.snapshot`, `${many}/00000000000000000020.snapshot`),
    rules: ['snapshot-offset'],
    file: '20.snapshot',
  },
  ...snapshotCases(),
  // Checkpoints
  ...[recoveryPoints, highWatermarks, cleanedOffsets].map((path): Planted => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return {
      name: `a damaged ${name}`,
      plant: (d) => d.put(path, '0\n7\norders 0 2\n'),
      rules: ['checkpoint-damaged'],
      file: name,
    };
  }),
  {
    name: 'a damaged log-start-offset-checkpoint, without which leader epochs of deleted records seem to be missing',
    plant: (d) => d.put(startOffsets, '1\n1\norders 0 2\n'),
    rules: ['checkpoint-damaged', 'leader-epoch-agreement'],
    file: 'log-start-offset-checkpoint',
  },
  {
    name: 'a checkpoint of a log that is not there',
    plant: (d) => d.put(highWatermarks, '0\n3\norders 0 74\norders 1 8\nothers 0 3\n'),
    rules: ['checkpoint-orphan'],
    file: 'replication-offset-checkpoint',
  },
  {
    name: 'a recovery point beyond the end',
    plant: (d) => d.put(recoveryPoints, '0\n2\norders 0 75\norders 1 8\n'),
    rules: ['recovery-point'],
    file: 'recovery-point-offset-checkpoint',
  },
  {
    name: 'a high watermark beyond the end',
    plant: (d) => d.put(highWatermarks, '0\n2\norders 0 75\norders 1 8\n'),
    rules: ['high-watermark'],
    file: 'replication-offset-checkpoint',
  },
  {
    name: 'a high watermark before the start',
    plant: (d) => d.put(highWatermarks, '0\n2\norders 0 1\norders 1 8\n'),
    rules: ['high-watermark'],
    file: 'replication-offset-checkpoint',
  },
  {
    name: 'a log start beyond the end',
    plant: (d) => d.put(startOffsets, '0\n2\norders 0 2\norders 1 9\n'),
    rules: ['high-watermark', 'log-start-offset'],
    file: 'log-start-offset-checkpoint',
  },
  {
    name: 'a compaction that reaches into the active segment',
    plant: (d) => d.put(cleanedOffsets, '0\n1\norders 0 56\n'),
    rules: ['cleaner-offset'],
    file: 'cleaner-offset-checkpoint',
  },
  // Directories and folders
  {
    name: 'no meta.properties',
    plant: (d) => d.remove(`${directory}/meta.properties`),
    rules: ['meta-properties'],
    file: 'meta.properties',
  },
  ...(
    [
      ['of an unknown version', /version=0/, 'version=2'],
      ['without a broker', /broker\.id=1\n/, ''],
      ['without a cluster', /cluster\.id=.*/, ''],
    ] as const
  ).map(([what, from, to]): Planted => {
    const plant = (d: DamagedDirectory): void => d.editText(`${directory}/meta.properties`, from, to);
    return { name: `a meta.properties ${what}`, plant, rules: ['meta-properties'], file: 'meta.properties' };
  }),
  {
    name: 'a partition.metadata that is cut off',
    plant: (d) => d.put(`${many}/partition.metadata`, 'version: 0\ntopic_id: gDgJJoR'),
    rules: ['partition-metadata'],
    file: 'orders-0/partition.metadata',
  },
  {
    name: 'partitions of one topic that name two',
    plant: (d) => d.editText(`${few}/partition.metadata`, 'gDgJ', 'AAAA'),
    rules: ['partition-metadata'],
    file: 'orders-1/partition.metadata',
  },
  {
    name: 'an index without records',
    plant: (d) => d.put(`${many}/00000000000000000030.index`, Buffer.alloc(0)),
    rules: ['orphan-index'],
    file: '30.index',
    isMended: true,
  },
  ...['.log.deleted', '.index.cleaned', '.txnindex.deleted'].map((ending): Planted => {
    const plant = (d: DamagedDirectory): void => d.put(`${second}${ending}`, Buffer.alloc(0));
    return { name: `a file that ends in ${ending}`, plant, rules: ['leftover'], file: ending, isMended: true };
  }),
  {
    name: 'a compacted segment that waits to take the place of others',
    plant: (d) => {
      for (const ending of ['.log', '.index', '.timeindex', '.txnindex']) d.rename(`${second}${ending}`, `${second}${ending}.swap`);
    },
    rules: ['leftover'],
    file: '19.log.swap',
    isMended: true,
  },
  {
    name: 'a deleted log',
    plant: (d) => d.disk.makeDirectorySync(deletedLog),
    rules: ['leftover'],
    file: '-delete',
    isMended: true,
  },
  {
    name: 'a log that moves here',
    plant: (d) => d.disk.makeDirectorySync(futureLog),
    rules: ['leftover'],
    file: '-future',
    isMended: true,
  },
  { name: 'a stray log', plant: (d) => d.disk.makeDirectorySync(strayLog), rules: ['leftover'], file: '-stray' },
  {
    name: 'a file that cannot be read',
    plant: (d) => d.disk.faults.add({ path: `${second}.timeindex`, operations: ['read'] }),
    rules: ['unreadable'],
    file: '19.timeindex',
  },
];

/** What can be wrong with the transaction index of the second segment, which has one entry. */
function transactionIndexCases(): Planted[] {
  const changes: readonly (readonly [name: string, change: (bytes: Buffer) => Buffer | undefined])[] = [
    ['an unknown version', (bytes) => void bytes.writeInt16BE(1, 0)],
    ['another producer', (bytes) => void bytes.writeBigInt64BE(70n, 2)],
    ['another first offset', (bytes) => void bytes.writeBigInt64BE(bytes.readBigInt64BE(10) + 1n, 10)],
    ['another last offset', (bytes) => void bytes.writeBigInt64BE(bytes.readBigInt64BE(18) + 1n, 18)],
    ['another last stable offset', (bytes) => void bytes.writeBigInt64BE(bytes.readBigInt64BE(26) - 1n, 26)],
    ['no entry', () => Buffer.alloc(0)],
    [
      'an entry for an abort that is not there',
      (bytes) => Buffer.concat([bytes, int16(0), int64(71), int64(36), int64(36), int64(37)]),
    ],
  ];
  const cases = changes.map(([what, change]): Planted => {
    const plant = (d: DamagedDirectory): void => d.edit(`${second}.txnindex`, change);
    return { name: `a transaction index with ${what}`, plant, rules: ['transaction-index'], file: '19.txnindex' };
  });
  const gone: Planted = {
    name: 'no transaction index where a transaction was aborted',
    plant: (d) => d.remove(`${second}.txnindex`),
    rules: ['transaction-index'],
    file: '19.log',
  };
  const twice: Planted = {
    name: 'a transaction index that has an entry twice',
    plant: (d) => d.edit(`${second}.txnindex`, (bytes) => Buffer.concat([bytes, bytes])),
    rules: ['index-order', 'transaction-index'],
    file: '19.txnindex',
  };
  return [...cases, gone, twice];
}

/** What can be wrong with the snapshot of the third segment, in which both producers are, the second with an open transaction. */
function snapshotCases(): Planted[] {
  const path = `${many}/00000000000000000037.snapshot`;
  const changes: readonly (readonly [name: string, change: (states: ProducerState[]) => ProducerState[]])[] = [
    ['another sequence', changed(0, (state) => ({ batches: state.batches.map((batch) => ({ ...batch, lastSequence: 999 })) }))],
    ['another last offset', changed(0, (state) => ({ batches: state.batches.map((batch) => ({ ...batch, lastOffset: 20 })) }))],
    [
      'an offset that it cannot know',
      changed(0, (state) => ({ batches: state.batches.map((batch) => ({ ...batch, lastOffset: 40 })) })),
    ],
    ['another delta', changed(0, (state) => ({ batches: state.batches.map((batch) => ({ ...batch, offsetDelta: 0 })) }))],
    ['another epoch', changed(0, () => ({ producerEpoch: 9 }))],
    ['another time', changed(0, () => ({ lastTimestamp: 4 }))],
    ['another coordinator', changed(1, () => ({ coordinatorEpoch: 2 }))],
    ['another open transaction', changed(1, (state) => ({ transactionFirstOffset: (state.transactionFirstOffset ?? 30) + 1 }))],
    ['a producer that the log does not know', (states) => [...states, { ...states[0]!, producerId: 99 }]],
  ];
  const cases = changes.map(([what, change]): Planted => {
    const plant = (d: DamagedDirectory): void => d.edit(path, (bytes) => encodeSnapshot(change(decodeSnapshot(bytes, path))));
    return { name: `a snapshot with ${what}`, plant, rules: ['snapshot-content'], file: '37.snapshot' };
  });
  const open = `${many}/00000000000000000074.snapshot`;
  const without: Planted = {
    name: 'a snapshot without the producer of an open transaction',
    plant: (d) => {
      const states = decodeSnapshot(d.read(open), open);
      assert.ok(states.some(({ transactionFirstOffset }) => transactionFirstOffset !== undefined));
      d.put(open, encodeSnapshot(states.filter(({ transactionFirstOffset }) => transactionFirstOffset === undefined)));
    },
    rules: ['snapshot-content'],
    file: '74.snapshot',
  };
  return [...cases, without];
}

function changed(
  index: number,
  change: (state: ProducerState) => Partial<ProducerState>,
): (states: ProducerState[]) => ProducerState[] {
  return (states) => states.map((state, at) => (at === index ? { ...state, ...change(state) } : state));
}

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

function batchesIn(bytes: Buffer): RecordBatch[] {
  return [...iterateBatches(bytes)].map((batch) => batch as RecordBatch);
}

function positionOfBatch(damaged: DamagedDirectory, path: string, index: number): number {
  return batchesIn(damaged.read(path)).at(index)!.start;
}

function editBatch(
  damaged: DamagedDirectory,
  path: string,
  index: number,
  change: (batch: RecordBatch) => void,
  withChecksum?: 'with checksum',
): void {
  damaged.edit(path, (bytes) => {
    const batch = batchesIn(bytes).at(index)!;
    const end = batch.end;
    change(batch);
    if (withChecksum !== undefined) bytes.writeUInt32BE(crc32c(bytes, batch.start + 21, end), batch.start + 17);
    return bytes;
  });
}

/** The first two entries, the other way round. */
function swapped(bytes: Buffer, entryBytes: number): Buffer {
  const [one, two] = [bytes.subarray(0, entryBytes), bytes.subarray(entryBytes, 2 * entryBytes)];
  return Buffer.concat([two, one, bytes.subarray(2 * entryBytes)]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32s(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, 4 * index);
  return bytes;
}

function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}
