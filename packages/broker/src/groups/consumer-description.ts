// What ConsumerGroupDescribe tells of a consumer group.

import type { ConsumerGroupDescribeResponse, MessageInit } from '@odradek/protocol';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import type { ConsumerGroup } from './consumer-group.ts';

type DescribedGroup = NonNullable<MessageInit<typeof ConsumerGroupDescribeResponse>['groups']>[number];
type DescribedAssignment = NonNullable<NonNullable<DescribedGroup['members']>[number]['assignment']>;

/** Kafka's numbers of what protocol a member speaks. */
const memberTypes = { classic: 0, consumer: 1 } as const;

export function describeConsumerGroup(group: ConsumerGroup, defaultAssignor: string, metadata: MetadataSnapshot): DescribedGroup {
  return {
    errorCode: 0,
    groupId: group.groupId,
    groupState: group.state,
    groupEpoch: group.groupEpoch,
    assignmentEpoch: group.assignmentEpoch,
    assignorName: group.preferredAssignor() ?? defaultAssignor,
    members: [...group.members.values()].map((member) => ({
      memberId: member.memberId,
      instanceId: member.instanceId,
      rackId: member.rackId,
      memberEpoch: member.memberEpoch,
      clientId: member.clientId,
      clientHost: member.clientHost,
      subscribedTopicNames: member.subscribedTopicNames,
      subscribedTopicRegex: member.subscribedTopicRegex,
      assignment: assignment(member.assignedPartitions, metadata),
      targetAssignment: assignment(group.targetOf(member) ?? new Map(), metadata),
      memberType: member.classic === null ? memberTypes.consumer : memberTypes.classic,
    })),
  };
}

/** Topics that are gone cannot be named. */
function assignment(
  partitions: ReadonlyMap<string, ReadonlySet<number> | ReadonlyMap<number, number>>,
  metadata: MetadataSnapshot,
): DescribedAssignment {
  return {
    topicPartitions: [...partitions].flatMap(([topicId, of]) => {
      const topicName = metadata.topicName(topicId);
      return topicName === undefined ? [] : [{ topicId, topicName, partitions: [...of.keys()].sort((a, b) => a - b) }];
    }),
  };
}
