// Keys and values of control batches: records that readers of a log meet and applications do not.
// The key is an int16 version (0) and an int16 type: 0 abort, 1 commit, 2 leader change, 3 snapshot header, 4 snapshot footer,
// 5 kraft.version, 6 voters. The value begins with an int16, its version.

import { array, int16, int32, int64, type Message, message, string, struct, uint16, uuid } from '../schema/define.ts';

/** The key of a control record, after its version. */
export const ControlRecordTypeSchema = message({
  name: 'ControlRecordTypeSchema',
  type: 'data',
  versions: '0',
  flexible: 'none',
  fields: {
    /** 0 abort, 1 commit, 2 leader change, 3 snapshot header, 4 snapshot footer, 5 kraft.version, 6 voters. */
    type: int16(),
  },
});
export type ControlRecordTypeSchema = Message<typeof ControlRecordTypeSchema>;

/** The value of an abort or commit marker. */
export const EndTxnMarker = message({
  name: 'EndTxnMarker',
  type: 'data',
  versions: '0',
  flexible: 'none',
  fields: {
    /** Of the transaction coordinator that wrote the marker. */
    coordinatorEpoch: int32(),
  },
});
export type EndTxnMarker = Message<typeof EndTxnMarker>;

const voter = struct({
  voterId: int32(),
  voterDirectoryId: uuid({ versions: '1+' }),
});

/** The value of a leader change, which KRaft logs carry. */
export const LeaderChangeMessage = message({
  name: 'LeaderChangeMessage',
  type: 'data',
  versions: '0-1',
  flexible: '0+',
  fields: {
    version: int16(),
    leaderId: int32(),
    voters: array(voter),
    grantingVoters: array(voter),
  },
});
export type LeaderChangeMessage = Message<typeof LeaderChangeMessage>;

/** The value of the first record of a KRaft snapshot. */
export const SnapshotHeaderRecord = message({
  name: 'SnapshotHeaderRecord',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    version: int16(),
    lastContainedLogTimestamp: int64(),
  },
});
export type SnapshotHeaderRecord = Message<typeof SnapshotHeaderRecord>;

/** The value of the last record of a KRaft snapshot. */
export const SnapshotFooterRecord = message({
  name: 'SnapshotFooterRecord',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    version: int16(),
  },
});
export type SnapshotFooterRecord = Message<typeof SnapshotFooterRecord>;

/** The value of a record that sets kraft.version. */
export const KRaftVersionRecord = message({
  name: 'KRaftVersionRecord',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    version: int16(),
    kRaftVersion: int16(),
  },
});
export type KRaftVersionRecord = Message<typeof KRaftVersionRecord>;

/** The value of a record that sets the voters of a KRaft quorum. */
export const VotersRecord = message({
  name: 'VotersRecord',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    version: int16(),
    voters: array(
      struct({
        voterId: int32(),
        voterDirectoryId: uuid(),
        endpoints: array(
          struct({
            name: string(),
            host: string(),
            port: uint16(),
          }),
        ),
        kRaftVersionFeature: struct({
          minSupportedVersion: int16(),
          maxSupportedVersion: int16(),
        }),
      }),
    ),
  },
});
export type VotersRecord = Message<typeof VotersRecord>;
