// What can be wrong with the files of a log: its records, its leader epochs, its indexes.

import assert from 'node:assert/strict';
import {
  batchesIn,
  type DamagedDirectory,
  editBatch,
  few,
  first,
  last,
  many,
  type Planted,
  second,
} from './written-directory.fixture.ts';

export const logDamage: readonly Planted[] = [
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
