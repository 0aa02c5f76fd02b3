// TODO

import { int32, int64, type Message, message, string, uuid } from '../schema/define.ts';

export const OffsetCommitKey = message({
  name: 'OffsetCommitKey',
  type: 'data',
  recordType: 1,
  versions: '0',
  flexible: 'none',
  fields: {
    group: string(),
    topic: string(),
    partition: int32(),
  },
});
export type OffsetCommitKey = Message<typeof OffsetCommitKey>;

export const OffsetCommitValue = message({
  name: 'OffsetCommitValue',
  type: 'data',
  versions: '0-4',
  flexible: '4+',
  fields: {
    offset: int64(),
    leaderEpoch: int32({ versions: '3+', default: -1, ignorable: true }),
    metadata: string(),
    commitTimestamp: int64(),
    expireTimestamp: int64({ versions: '1', default: -1, ignorable: true }),
    topicId: uuid({ versions: '4+', tag: 0, ignorable: true }),
  },
});
export type OffsetCommitValue = Message<typeof OffsetCommitValue>;

export const LegacyOffsetCommitKey = message({
  name: 'LegacyOffsetCommitKey',
  type: 'data',
  recordType: 0,
  versions: '0',
  flexible: 'none',
  fields: {
    group: string(),
    topic: string(),
    partition: int32(),
  },
});
export type LegacyOffsetCommitKey = Message<typeof LegacyOffsetCommitKey>;

export const LegacyOffsetCommitValue = message({
  name: 'LegacyOffsetCommitValue',
  type: 'data',
  versions: '0',
  flexible: 'none',
  fields: {
    offset: int64(),
    metadata: string(),
    commitTimestamp: int64(),
  },
});
export type LegacyOffsetCommitValue = Message<typeof LegacyOffsetCommitValue>;
