// What DescribeGroups tells of a classic group.

import type { DescribeGroupsResponse, MessageInit } from '@odradek/protocol';
import type { ClassicGroup } from './classic-group.ts';

type DescribedGroup = NonNullable<MessageInit<typeof DescribeGroupsResponse>['groups']>[number];

/** Subscriptions are shown only while they are settled, an assignment until there is another one: during a rebalance tools can still say who read what. */
export function describeClassicGroup(group: ClassicGroup): DescribedGroup {
  const protocolName = group.state === 'Stable' ? group.protocolName : null;
  return {
    errorCode: 0,
    groupId: group.groupId,
    groupState: group.state,
    protocolType: group.protocolType ?? '',
    protocolData: protocolName ?? '',
    members: [...group.members.values()].map((member) => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      memberMetadata: protocolName === null ? Buffer.alloc(0) : member.metadata(protocolName),
      memberAssignment: Buffer.from(member.assignment),
    })),
  };
}
