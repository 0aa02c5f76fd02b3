// Members of groups that never rest: they join, commit a higher offset again and again, and make their group rebalance; whatever
// goes wrong, they begin anew. Each keeps what it was told is committed, and the members of a group what they were told of its
// generations and epochs.

import {
  ConsumerGroupHeartbeatRequest,
  ConsumerGroupHeartbeatResponse,
  ConsumerProtocolSubscription,
  encodeToBuffer,
  errorCodes,
  JoinGroupRequest,
  JoinGroupResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
  SyncGroupRequest,
  SyncGroupResponse,
} from '@odradek/protocol';
import { RawClient, until } from '@odradek/testing';

export interface CommittedPartition {
  readonly port: number;
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
}

export interface CommittingMemberOptions extends CommittedPartition {
  readonly protocol: 'classic' | 'consumer';
  /** Static members keep their place under this name. */
  readonly instanceId: string | null;
  readonly history: GroupHistory;
}

/** What the members of one group were told of it. */
export class GroupHistory {
  /** The latest generation or epoch that the broker must have written, since it gave an assignment of it. */
  settledEpoch = 0;
  readonly problems: string[] = [];

  /** `since` is what was settled when the question was asked. */
  hear(epoch: number, since: number): void {
    if (epoch < since) this.problems.push(`epoch ${epoch} came after ${since}`);
  }

  settle(epoch: number): void {
    this.settledEpoch = Math.max(this.settledEpoch, epoch);
  }
}

export class CommittingMember {
  /** The highest offset whose commit was acknowledged, and the highest that was sent. */
  acknowledged = 0;
  attempted = 0;
  /** A commit is on its way, and no answer has come. */
  isCommitting = false;
  readonly options: CommittingMemberOptions;
  #isStopped = false;
  #memberId = '';
  #client: RawClient | undefined;
  #running: Promise<void>;

  constructor(options: CommittingMemberOptions) {
    this.options = options;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#client?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        this.#client = await until('the broker is there', () => RawClient.connect({ port: this.options.port }), { everyMs: 5 });
        while (!this.#isStopped) await (this.options.protocol === 'classic' ? this.#classicRound() : this.#consumerRound());
      } catch {
        // The broker is gone, or was when the request was on its way.
        await this.#client?.close();
      }
    }
  }

  /** One generation: join, get an assignment, commit, and join again. */
  async #classicRound(): Promise<void> {
    const { group, topic, instanceId, history } = this.options;
    const metadata = Buffer.concat([Buffer.from([0, 0]), encodeToBuffer(ConsumerProtocolSubscription, 0, { topics: [topic] })]);
    const since = history.settledEpoch;
    const joined = await this.#send(JoinGroupRequest, JoinGroupResponse, instanceId === null ? 3 : 5, {
      groupId: group,
      memberId: this.#memberId,
      groupInstanceId: instanceId,
      sessionTimeoutMs: 1000,
      rebalanceTimeoutMs: 1000,
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata }],
    });
    this.#memberId = joined.errorCode === errorCodes.NONE ? joined.memberId : '';
    if (joined.errorCode !== errorCodes.NONE) return;
    const { generationId, memberId } = joined;
    history.hear(generationId, since);
    const assignments = joined.members.map((member) => ({ memberId: member.memberId, assignment: Buffer.from([0, 0]) }));
    const synced = await this.#send(SyncGroupRequest, SyncGroupResponse, 3, {
      groupId: group,
      generationId,
      memberId,
      groupInstanceId: instanceId,
      assignments,
    });
    if (synced.errorCode !== errorCodes.NONE) return;
    history.settle(generationId);
    for (let count = 0; count < 10; count++) if (!(await this.#commit(8, memberId, generationId))) return;
  }

  async #consumerRound(): Promise<void> {
    const { group, topic, partition, instanceId, history } = this.options;
    // Only the member that has a static place may come back to it at once.
    const memberId = instanceId === null ? `member-${partition}-${this.attempted}` : `member-${instanceId}`;
    const beat = { groupId: group, memberId, instanceId, rebalanceTimeoutMs: 1000, subscribedTopicNames: [topic] };
    let memberEpoch = 0;
    for (let count = 0; count < 10; count++) {
      const since = history.settledEpoch;
      const heard = await this.#send(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, {
        ...beat,
        topicPartitions: [],
        memberEpoch,
      });
      if (heard.errorCode !== errorCodes.NONE) return;
      // A member that joins comes to the newest epoch.
      if (count === 0) history.hear(heard.memberEpoch, since);
      memberEpoch = heard.memberEpoch;
      history.settle(memberEpoch);
      if (!(await this.#commit(9, memberId, memberEpoch))) return;
    }
    const leaving = { ...beat, memberEpoch: instanceId === null ? -1 : -2 };
    await this.#send(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, 1, leaving);
  }

  async #commit(version: number, memberId: string, generationIdOrMemberEpoch: number): Promise<boolean> {
    const { group, topic, partition, instanceId } = this.options;
    const committedOffset = this.attempted + 1;
    this.attempted = committedOffset;
    const topics = [{ name: topic, partitions: [{ partitionIndex: partition, committedOffset, committedMetadata: '' }] }];
    const commit = { groupId: group, generationIdOrMemberEpoch, memberId, groupInstanceId: instanceId, topics };
    this.isCommitting = true;
    const answer = await this.#send(OffsetCommitRequest, OffsetCommitResponse, version, commit).finally(() => {
      this.isCommitting = false;
    });
    if (answer.topics[0]?.partitions[0]?.errorCode !== errorCodes.NONE) return false;
    this.acknowledged = committedOffset;
    return true;
  }

  get #send(): RawClient['send'] {
    const client = this.#client;
    if (client === undefined) throw new Error('there is no connection');
    return client.send.bind(client);
  }
}

/** What the broker says is committed; it may have to load the group first. */
export async function committedOffset({ port, group, topic, partition }: CommittedPartition): Promise<number> {
  const groups = [{ groupId: group, topics: [{ name: topic, partitionIndexes: [partition] }] }];
  return until('the group is loaded', async () => {
    await using client = await RawClient.connect({ port });
    const answer = await client.send(OffsetFetchRequest, OffsetFetchResponse, 8, { groups });
    const fetched = answer.groups[0];
    return fetched?.errorCode === errorCodes.NONE ? fetched.topics[0]?.partitions[0]?.committedOffset : undefined;
  });
}
