// What a consumer group says of offsets: who may commit and fetch them now, and how they grow old. Pure rules.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { ConsumerGroup } from './consumer-group.ts';
import type { ConsumerMember } from './consumer-member.ts';
import { unknownMember } from './consumer-membership.ts';
import type { OffsetCommit } from './offset-commits.ts';
import { expiresUnlessSubscribed, type OffsetExpiry } from './offset-expiry.ts';
import type { OffsetQuery } from './offset-fetches.ts';

/** Throws when the committer may not commit. */
export function checkConsumerCommit(group: ConsumerGroup, commit: OffsetCommit): void {
  const { memberId, generationId: epoch, apiVersion } = commit;
  // Administrators, and consumers that assign partitions themselves, commit for groups in which nobody is.
  if (epoch < 0 && group.isEmpty) return;
  const member = group.member(memberId);
  if (member === undefined) throw unknownMember(group.groupId, memberId);
  if (member.classic === null && apiVersion < 9) {
    const message = 'OffsetCommit version 9 or above must be used by members using the consumer group protocol';
    throw new ProtocolError(errorCodes.UNSUPPORTED_VERSION, message);
  }
  if (epoch === member.memberEpoch) return;
  if (epoch > member.memberEpoch) throw staleEpoch(member, `${epoch} is newer than the member's ${member.memberEpoch}`);
  // The member may not have heard of its new epoch yet (KIP-1251). What it had in the old one it may still commit.
  for (const { topic, topicId, partitions } of commit.topics) {
    for (const { partition } of partitions) {
      const since =
        topicId === zeroUuid
          ? undefined
          : (member.assignedPartitions.get(topicId)?.get(partition) ??
            member.partitionsPendingRevocation.get(topicId)?.get(partition));
      if (since === undefined) throw staleEpoch(member, `${topic}-${partition} is not the member's`);
      if (epoch < since)
        throw staleEpoch(member, `${topic}-${partition} is the member's since epoch ${since}, and not in ${epoch}`);
    }
  }
}

/** Throws when the one who asks is no member, or not where it thinks. */
export function checkConsumerFetch(group: ConsumerGroup, { memberId, memberEpoch }: OffsetQuery): void {
  // Administrators and older clients do not say who asks.
  if (memberId === null && memberEpoch < 0) return;
  const member = memberId === null ? undefined : group.member(memberId);
  if (member === undefined) throw unknownMember(group.groupId, memberId ?? '');
  if (memberEpoch !== member.memberEpoch) throw staleEpoch(member, `${memberEpoch} is not the member's ${member.memberEpoch}`);
}

/** Offsets of topics that nobody subscribes to expire after their commit; so do all of a group that is empty. */
export function consumerOffsetExpiry(group: ConsumerGroup): OffsetExpiry {
  return expiresUnlessSubscribed((topic) => group.isSubscribedTo(topic));
}

/** Each protocol has its own error for it. */
function staleEpoch({ classic }: ConsumerMember, what: string): ProtocolError {
  return new ProtocolError(classic === null ? errorCodes.STALE_MEMBER_EPOCH : errorCodes.ILLEGAL_GENERATION, what);
}
