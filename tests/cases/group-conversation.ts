// What members of a classic group say, sent plainly, each over a connection of its own as real members have.

import {
  ConsumerProtocolSubscription,
  encodeToBuffer,
  FindCoordinatorRequest,
  FindCoordinatorResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  JoinGroupRequest,
  JoinGroupResponse,
  LeaveGroupRequest,
  LeaveGroupResponse,
  type Message,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  SyncGroupRequest,
  SyncGroupResponse,
} from '@odradek/protocol';
import { type BrokerUnderTest, RawClient, until } from '@odradek/testing';
import { assertError } from './broker-conversation.ts';

export type Joined = Message<typeof JoinGroupResponse>;

export interface GroupMemberOptions {
  readonly group: string;
  readonly topic: string;
  readonly instanceId?: string;
  /** 10 s without. */
  readonly sessionTimeoutMs?: number;
  /** That of the session without. */
  readonly rebalanceTimeoutMs?: number;
}

export class GroupMember {
  readonly client: RawClient;
  readonly options: GroupMemberOptions;
  memberId = '';
  generationId = -1;

  private constructor(client: RawClient, options: GroupMemberOptions) {
    this.client = client;
    this.options = options;
  }

  /** Waits until the broker coordinates the group. */
  static async open(broker: BrokerUnderTest, options: GroupMemberOptions): Promise<GroupMember> {
    const client = await RawClient.connect({ host: broker.host, port: broker.port });
    await until('there is a coordinator', async () => {
      const found = await client.send(FindCoordinatorRequest, FindCoordinatorResponse, 2, { key: options.group, keyType: 0 });
      if (found.errorCode !== 0) return false;
      const offsets = await client.send(OffsetFetchRequest, OffsetFetchResponse, 7, { groupId: options.group, topics: [] });
      return offsets.errorCode === 0;
    });
    return new GroupMember(client, options);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Joins, with the id that the member has, and comes back with the one that it is given. */
  async join(version = 5): Promise<Joined> {
    const { group: groupId, topic, instanceId = null, sessionTimeoutMs = 10_000 } = this.options;
    const { rebalanceTimeoutMs = sessionTimeoutMs } = this.options;
    const metadata = Buffer.concat([Buffer.from([0, 0]), encodeToBuffer(ConsumerProtocolSubscription, 0, { topics: [topic] })]);
    for (;;) {
      const joined = await this.client.send(JoinGroupRequest, JoinGroupResponse, version, {
        groupId,
        memberId: this.memberId,
        groupInstanceId: instanceId,
        sessionTimeoutMs,
        rebalanceTimeoutMs: version === 0 ? -1 : rebalanceTimeoutMs,
        protocolType: 'consumer',
        protocols: [{ name: 'range', metadata }],
      });
      const isSentBack = joined.errorCode === 79;
      if (joined.errorCode === 0 || isSentBack) this.memberId = joined.memberId;
      if (joined.errorCode === 0) this.generationId = joined.generationId;
      if (!isSentBack) return joined;
    }
  }

  /** `assignments` by member id, from the leader. */
  async sync(assignments: Readonly<Record<string, string>> = {}): Promise<Message<typeof SyncGroupResponse>> {
    const { group: groupId, instanceId = null } = this.options;
    return this.client.send(SyncGroupRequest, SyncGroupResponse, instanceId === null ? 0 : 3, {
      groupId,
      generationId: this.generationId,
      memberId: this.memberId,
      groupInstanceId: instanceId,
      assignments: Object.entries(assignments).map(([memberId, text]) => ({ memberId, assignment: Buffer.from(text) })),
    });
  }

  async beat(): Promise<number> {
    const { group: groupId, instanceId = null } = this.options;
    const beat = { groupId, generationId: this.generationId, memberId: this.memberId, groupInstanceId: instanceId };
    return (await this.client.send(HeartbeatRequest, HeartbeatResponse, instanceId === null ? 0 : 3, beat)).errorCode;
  }

  async leave(): Promise<void> {
    const leave = { groupId: this.options.group, memberId: this.memberId };
    assertError((await this.client.send(LeaveGroupRequest, LeaveGroupResponse, 1, leave)).errorCode, 'NONE');
    [this.memberId, this.generationId] = ['', -1];
  }

  /** Commits for a partition, and answers its error code. */
  async commit(version: number, offset: number, partition = 0): Promise<number | undefined> {
    const { group: groupId, topic: name, instanceId = null } = this.options;
    const partitions = [{ partitionIndex: partition, committedOffset: offset, committedMetadata: 'note' }];
    const answer = await this.client.send(OffsetCommitRequest, OffsetCommitResponse, version, {
      groupId,
      generationIdOrMemberEpoch: this.generationId,
      memberId: this.memberId,
      ...(version >= 7 ? { groupInstanceId: instanceId } : {}),
      topics: [{ name, partitions }],
    });
    return answer.topics[0]?.partitions[0]?.errorCode;
  }

  /** What is committed for a partition; -1: nothing. */
  async committed(version: number, partition = 0): Promise<number> {
    const { group: groupId, topic: name } = this.options;
    const topics = [{ name, partitionIndexes: [partition] }];
    const answer = await this.client.send(OffsetFetchRequest, OffsetFetchResponse, version, { groupId, topics });
    assertError(answer.errorCode, 'NONE');
    const fetched = answer.topics[0]?.partitions[0];
    assertError(fetched?.errorCode, 'NONE');
    return fetched?.committedOffset ?? Number.NaN;
  }
}
