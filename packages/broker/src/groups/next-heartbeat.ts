// When a member of a consumer group is to be heard of again. A member learns what has changed for it only from the answer to a
// heartbeat. In a group at rest that is seldom anything, so heartbeats are far apart; while something is about to change, they are
// asked for sooner. Every answer says anew when the next is due, and clients go by the latest.
// docs/decisions/0018-heartbeats-while-a-group-changes.md says what this is for.

import type { ConsumerMember } from './consumer-member.ts';

export interface GroupCircumstances {
  readonly groupEpoch: number;
  readonly memberCount: number;
  /** For how long the group has had its target assignment. */
  readonly assignmentAgeMs: number;
  /** `consumer.heartbeat.interval.ms` and `consumer.assignment.interval.ms` of the group. */
  readonly heartbeatIntervalMs: number;
  readonly assignmentIntervalMs: number;
}

/** Soon for people, and seldom for a broker. */
const shortestWaitMs = 500;
/** All the members of a group together: the larger it is, the less often those that wait ask again. */
const mostPerSecond = 1000;

/** In how many ms the member's next heartbeat shall come. Never later than the group's interval says. */
export function nextHeartbeatMs(member: ConsumerMember, group: GroupCircumstances): number {
  const waitMs = Math.max(changeExpectedMs(member, group), Math.ceil((group.memberCount * 1000) / mostPerSecond));
  return Math.min(group.heartbeatIntervalMs, waitMs);
}

/** After how long something may be new for the member. */
function changeExpectedMs({ state, memberEpoch }: ConsumerMember, group: GroupCircumstances): number {
  const nextAssignmentMs = Math.max(shortestWaitMs, group.assignmentIntervalMs);
  switch (state) {
    case 'unreleasedPartitions':
      return shortestWaitMs;
    case 'unrevokedPartitions':
      // It is the member's turn: it says so at once when it has given them up.
      return group.heartbeatIntervalMs;
    case 'stable':
    case 'unknown':
      if (memberEpoch < group.groupEpoch) return nextAssignmentMs;
      // Members come and go together. A group that has changed may well change again; the longer it rests, the less is to be
      // expected. A clock that was wrong when the assignment was made expects nothing.
      return group.assignmentAgeMs < 0 ? group.heartbeatIntervalMs : Math.max(nextAssignmentMs, Math.ceil(group.assignmentAgeMs));
  }
}
