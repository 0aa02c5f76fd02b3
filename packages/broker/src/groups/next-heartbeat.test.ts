import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ConsumerMemberState, newConsumerMember } from './consumer-member.ts';
import { type GroupCircumstances, nextHeartbeatMs } from './next-heartbeat.ts';

const atRest: GroupCircumstances = {
  groupEpoch: 5,
  memberCount: 3,
  assignmentAgeMs: 3_600_000,
  heartbeatIntervalMs: 5000,
  assignmentIntervalMs: 1000,
};

interface Case {
  readonly what: string;
  readonly state?: ConsumerMemberState;
  readonly memberEpoch?: number;
  readonly group?: Partial<GroupCircumstances>;
  readonly expectedMs: number;
}

const waiting: ConsumerMemberState = 'unreleasedPartitions';

describe('the next heartbeat of a member of a consumer group', () => {
  const cases: readonly Case[] = [
    { what: 'comes after the interval when nothing is about to change', expectedMs: 5000 },
    { what: 'comes soon while others have its partitions', state: waiting, expectedMs: 500 },
    { what: '… however far apart assignments are', state: waiting, group: { assignmentIntervalMs: 15_000 }, expectedMs: 500 },
    { what: '… but not later than a short interval', state: waiting, group: { heartbeatIntervalMs: 200 }, expectedMs: 200 },
    { what: 'comes of itself when partitions are given up', state: 'unrevokedPartitions', memberEpoch: 4, expectedMs: 5000 },
    { what: 'comes when the assignment that is due may be made', memberEpoch: 4, expectedMs: 1000 },
    { what: '… but not after the interval', memberEpoch: 4, group: { assignmentIntervalMs: 15_000 }, expectedMs: 5000 },
    { what: '… and not at once', memberEpoch: 4, group: { assignmentIntervalMs: 0 }, expectedMs: 500 },
    { what: 'comes when the next assignment may be made, after one', group: { assignmentAgeMs: 0 }, expectedMs: 1000 },
    { what: 'comes the later the older the assignment is', group: { assignmentAgeMs: 2345.6 }, expectedMs: 2346 },
    { what: 'comes after the interval when the assignment is of tomorrow', group: { assignmentAgeMs: -1 }, expectedMs: 5000 },
    { what: 'comes a thousand times a second from all', state: waiting, group: { memberCount: 2000 }, expectedMs: 2000 },
    { what: '… but not after the interval, of however many', state: waiting, group: { memberCount: 20_000 }, expectedMs: 5000 },
  ];
  for (const { what, state = 'stable', memberEpoch = 5, group, expectedMs } of cases) {
    test(what, () => {
      const member = { ...newConsumerMember('m'), state, memberEpoch };
      assert.equal(nextHeartbeatMs(member, { ...atRest, ...group }), expectedMs);
    });
  }
});
