// Keys and values of control batches: the records that readers of a log meet but applications do not.

import { array, int16, int32, int64, type Message, message, string, struct, uint16, uuid } from '../schema/define.ts';

export const ControlRecordTypeSchema = message({
  name: 'ControlRecordTypeSchema',
  type: 'data',
  versions: '0',
  flexible: 'none',
  fields: {
    type: int16(),
  },
});
export type ControlRecordTypeSchema = Message<typeof ControlRecordTypeSchema>;

export const EndTxnMarker = message({
  name: 'EndTxnMarker',
  type: 'data',
  versions: '0',
  flexible: 'none',
  fields: {
    coordinatorEpoch: int32(),
  },
});
export type EndTxnMarker = Message<typeof EndTxnMarker>;

const voter = struct({
  voterId: int32(),
  voterDirectoryId: uuid({ versions: '1+' }),
});

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
