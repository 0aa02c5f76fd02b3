// What can be wrong with a log directory as a whole: its checkpoints, its description, and what else lies in it.

import {
  cleanedOffsets,
  type DamagedDirectory,
  directory,
  few,
  highWatermarks,
  many,
  type Planted,
  recoveryPoints,
  second,
  startOffsets,
} from './written-directory.fixture.ts';

const deletedLog = `${directory}/orders-2.0123456789abcdef0123456789abcdef-delete`;
const strayLog = `${directory}/orders-2.0123456789abcdef0123456789abcdef-stray`;
const futureLog = `${directory}/orders-2.0123456789abcdef0123456789abcdef-future`;

export const directoryDamage: readonly Planted[] = [
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
