// Records of __share_group_state: a snapshot of a share partition, and updates that go on top of it. An int16 goes before the
// key and says what the record is (recordType); one before the value says its version.

import { array, int8, int16, int32, int64, type Message, message, string, struct, uuid } from '../schema/define.ts';

export const ShareSnapshotKey = message({
  name: 'ShareSnapshotKey',
  type: 'data',
  recordType: 0,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    topicId: uuid(),
    partition: int32(),
  },
});
export type ShareSnapshotKey = Message<typeof ShareSnapshotKey>;

export const ShareSnapshotValue = message({
  name: 'ShareSnapshotValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    snapshotEpoch: int32(),
    stateEpoch: int32(),
    leaderEpoch: int32(),
    startOffset: int64(),
    deliveryCompleteCount: int32({ default: -1, tag: 0 }),
    createTimestamp: int64(),
    writeTimestamp: int64(),
    stateBatches: array(
      struct({
        firstOffset: int64(),
        lastOffset: int64(),
        deliveryState: int8(),
        deliveryCount: int16(),
      }),
    ),
  },
});
export type ShareSnapshotValue = Message<typeof ShareSnapshotValue>;

export const ShareUpdateKey = message({
  name: 'ShareUpdateKey',
  type: 'data',
  recordType: 1,
  versions: '0',
  flexible: 'none',
  fields: {
    groupId: string(),
    topicId: uuid(),
    partition: int32(),
  },
});
export type ShareUpdateKey = Message<typeof ShareUpdateKey>;

export const ShareUpdateValue = message({
  name: 'ShareUpdateValue',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    snapshotEpoch: int32(),
    leaderEpoch: int32(),
    startOffset: int64(),
    deliveryCompleteCount: int32({ default: -1, tag: 0 }),
    stateBatches: array(
      struct({
        firstOffset: int64(),
        lastOffset: int64(),
        deliveryState: int8(),
        deliveryCount: int16(),
      }),
    ),
  },
});
export type ShareUpdateValue = Message<typeof ShareUpdateValue>;
