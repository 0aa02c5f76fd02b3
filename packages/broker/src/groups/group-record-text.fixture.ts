// A record of `__consumer_offsets` as a line of text, for golden scripts. Times are told from a start.

import type { CoordinatorRecord } from '../coordinator/coordinator-shard.ts';
import { decodeGroupRecord } from './group-records.ts';

export function printGroupRecord(record: CoordinatorRecord, startMs: number): string {
  const decoded = decodeGroupRecord(record);
  if (decoded === null) return 'an unknown record';
  const version = record.value === null ? '' : ` v${record.value.readInt16BE(0)}`;
  const key = Object.values(decoded.key).join(' ');
  const since = (ms: number): string => (ms === -1 ? 'never' : `${(ms - startMs) / 1000}s`);
  if (decoded.value === null) return `${decoded.kind} ${key} tombstone`;
  switch (decoded.kind) {
    case 'offsetCommit': {
      const { offset, metadata, commitTimestamp, expireTimestamp } = decoded.value;
      const expires = expireTimestamp === -1 ? '' : `, expires ${since(expireTimestamp)}`;
      return `${decoded.kind}${version} ${key}: ${offset} "${metadata}" at ${since(commitTimestamp)}${expires}`;
    }
    case 'groupMetadata': {
      const { protocolType, generation, protocol, leader, currentStateTimestamp, members } = decoded.value;
      const each = members.map(({ memberId, groupInstanceId, assignment }) =>
        [memberId, groupInstanceId === null ? '' : `/${groupInstanceId}`, ` ${printBytes(assignment)}`].join(''),
      );
      return `${decoded.kind}${version} ${key}: ${protocolType || '-'}/${protocol ?? '-'} generation ${generation}, leader ${leader ?? '-'}, since ${since(currentStateTimestamp)}, [${each.join(', ')}]`;
    }
    case 'consumerGroupMetadata':
      return `${decoded.kind}${version} ${key}: epoch ${decoded.value.epoch}${decoded.value.metadataHash === 0 ? '' : ', hashed'}`;
    case 'consumerGroupTargetAssignmentMetadata': {
      const { assignmentEpoch, assignmentTimestamp } = decoded.value;
      const at = assignmentTimestamp === 0 ? '' : ` at ${since(assignmentTimestamp)}`;
      return `${decoded.kind}${version} ${key}: epoch ${assignmentEpoch}${at}`;
    }
    case 'consumerGroupTargetAssignmentMember':
      return `${decoded.kind}${version} ${key}: ${printTopics(decoded.value.topicPartitions)}`;
    case 'consumerGroupMemberMetadata': {
      const { instanceId, subscribedTopicNames, subscribedTopicRegex, serverAssignor, classicMemberMetadata } = decoded.value;
      const facts = [
        `"${[...subscribedTopicNames, subscribedTopicRegex ?? ''].filter(Boolean).join(',')}"`,
        instanceId === null ? '' : `instance ${instanceId}`,
        serverAssignor ?? '',
        classicMemberMetadata === null ? '' : 'classic',
      ];
      return `${decoded.kind}${version} ${key}: ${facts.filter(Boolean).join(', ')}`;
    }
    case 'consumerGroupCurrentMemberAssignment': {
      const { memberEpoch, previousMemberEpoch, state, assignedPartitions, partitionsPendingRevocation } = decoded.value;
      const pending = partitionsPendingRevocation.length === 0 ? '' : `, to give up ${printTopics(partitionsPendingRevocation)}`;
      const name = ['stable', 'unrevoked', 'unreleased'][state] ?? `state ${state}`;
      return `${decoded.kind}${version} ${key}: epoch ${memberEpoch} after ${previousMemberEpoch}, ${name}, ${printTopics(assignedPartitions)}${pending}`;
    }
    case 'consumerGroupRegularExpression':
      return `${decoded.kind}${version} ${key}: ${decoded.value.topics.join(' ') || 'no topic'}`;
    default:
      return `${decoded.kind}${version} ${key}`;
  }
}

/** `t[0 1] u[0]`; where it is known in which epoch a partition was assigned, `t[0@2]`. The id of a topic spells its name. */
export function printTopics(
  topics: readonly {
    readonly topicId?: string | undefined;
    readonly partitions?: readonly number[] | undefined;
    readonly assignmentEpochs?: readonly number[] | null;
  }[],
): string {
  const each = topics.map(({ topicId = '', partitions = [], assignmentEpochs }) => {
    const numbers = partitions.map((partition, index) =>
      assignmentEpochs == null ? String(partition) : `${partition}@${assignmentEpochs[index]}`,
    );
    return `${topicId.replace(/A+$/, '')}[${numbers.join(' ')}]`;
  });
  return each.join(' ') || 'nothing';
}

/** What consumers assign is binary. */
function printBytes(bytes: Buffer): string {
  return bytes[0] === 0 ? `${bytes.length} bytes` : `"${bytes}"`;
}
