// What members of a consumer group say (the protocol that assigns on the broker), sent plainly, each over a connection of its own.

import {
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
  type Message,
  type MessageInit,
  OffsetCommitRequest,
  OffsetCommitResponse,
} from '@odradek/protocol';
import type { BrokerUnderTest, RawClient } from '@odradek/testing';
import { GroupMember } from './group-conversation.ts';

export type Heard = Message<typeof ConsumerGroupHeartbeatResponse>;

export interface ConsumerMemberOptions {
  readonly group: string;
  readonly topic: string;
  readonly instanceId?: string;
}

export class ConsumerMember {
  readonly client: RawClient;
  readonly options: ConsumerMemberOptions;
  readonly memberId: string;
  /** The highest epoch that it was told. */
  epoch = 0;

  private constructor(client: RawClient, options: ConsumerMemberOptions, memberId: string) {
    this.client = client;
    this.options = options;
    this.memberId = memberId;
  }

  /** Waits until the broker coordinates the group. */
  static async open(broker: BrokerUnderTest, options: ConsumerMemberOptions, memberId: string): Promise<ConsumerMember> {
    // Who asks is the same for both protocols.
    const { client } = await GroupMember.open(broker, { group: options.group, topic: options.topic });
    return new ConsumerMember(client, options, memberId);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  join(fields: MessageInit<typeof ConsumerGroupHeartbeatRequest> = {}): Promise<Heard> {
    this.epoch = 0;
    const { topic } = this.options;
    return this.beat({ rebalanceTimeoutMs: 60_000, subscribedTopicNames: [topic], topicPartitions: [], ...fields });
  }

  async beat(fields: MessageInit<typeof ConsumerGroupHeartbeatRequest> = {}): Promise<Heard> {
    const { group: groupId, instanceId = null } = this.options;
    const request = { groupId, memberId: this.memberId, memberEpoch: this.epoch, instanceId, ...fields };
    const heard = await this.client.send(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, request);
    if (heard.errorCode === 0) this.epoch = heard.memberEpoch;
    return heard;
  }

  /** Commits for a partition, and answers its error code. */
  async commit(committedOffset: number, partitionIndex = 0, topic = this.options.topic): Promise<number | undefined> {
    const answer = await this.client.send(OffsetCommitRequest, OffsetCommitResponse, 9, {
      groupId: this.options.group,
      generationIdOrMemberEpoch: this.epoch,
      memberId: this.memberId,
      groupInstanceId: this.options.instanceId ?? null,
      topics: [{ name: topic, partitions: [{ partitionIndex, committedOffset, committedMetadata: 'note' }] }],
    });
    return answer.topics[0]?.partitions[0]?.errorCode;
  }
}

/** The partitions that a heartbeat assigns, all topics together. */
export function assignedPartitions({ assignment }: Heard): number[] | null {
  return assignment === null ? null : assignment.topicPartitions.flatMap(({ partitions }) => [...partitions]).sort((a, b) => a - b);
}
