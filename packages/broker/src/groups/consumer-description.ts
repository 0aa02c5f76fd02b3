// What ConsumerGroupDescribe tells of a consumer group.

import type { ConsumerGroupDescribeResponse, MessageInit } from '@odradek/protocol';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import type { ConsumerGroup } from './consumer-group.ts';
import type { OwnedPartitions } from './consumer-member.ts';

type DescribedGroup = NonNullable<MessageInit<typeof ConsumerGroupDescribeResponse>['groups']>[number];
type DescribedAssignment = NonNullable<NonNullable<DescribedGroup['members']>[number]['assignment']>;

/** Kafka's numbers of what protocol a member speaks. */
const memberTypes = { classic: 0, consumer: 1 } as const;

export function describeConsumerGroup(
  group: ConsumerGroup,
  assignorNames: Iterable<string>,
  metadata: MetadataSnapshot,
): DescribedGroup {
  return {
    errorCode: 0,
    groupId: group.groupId,
    groupState: group.state,
    groupEpoch: group.groupEpoch,
    assignmentEpoch: group.assignmentEpoch,
    assignorName: group.preferredAssignor(assignorNames),
    members: [...group.members.values()].map((member) => ({
      memberId: member.memberId,
      instanceId: member.instanceId,
      rackId: member.rackId,
      memberEpoch: member.memberEpoch,
      clientId: member.clientId,
      clientHost: member.clientHost,
      subscribedTopicNames: member.subscribedTopicNames,
      subscribedTopicRegex: member.subscribedTopicRegex,
      // What it has yet to give up it may still read, and nobody else does.
      assignment: assignment(togetherOf(member.assignedPartitions, member.partitionsPendingRevocation), metadata),
      targetAssignment: assignment(group.targetOf(member) ?? new Map(), metadata),
      memberType: member.classic === null ? memberTypes.consumer : memberTypes.classic,
    })),
  };
}

function togetherOf(a: OwnedPartitions, b: OwnedPartitions): OwnedPartitions {
  const together = new Map(a);
  for (const [topicId, partitions] of b) together.set(topicId, new Map([...(together.get(topicId) ?? []), ...partitions]));
  return together;
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
