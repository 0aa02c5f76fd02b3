// Records of __consumer_offsets that hold committed offsets. An int16 goes before the key and says what the record is
// (recordType); one before the value says its version.
// Version 1 of the value has the time at which the offset expires, 2 leaves that to the broker, 3 adds leaderEpoch, 4 is
// flexible and adds topicId.

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
    /** The next offset to consume. */
    offset: int64(),
    /** Of the last record consumed; -1 when unknown. */
    leaderEpoch: int32({ versions: '3+', default: -1, ignorable: true }),
    metadata: string(),
    commitTimestamp: int64(),
    /** -1: never. */
    expireTimestamp: int64({ versions: '1', default: -1, ignorable: true }),
    topicId: uuid({ versions: '4+', tag: 0, ignorable: true }),
  },
});
export type OffsetCommitValue = Message<typeof OffsetCommitValue>;

/** As written before version 1 of the key; only read. */
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
