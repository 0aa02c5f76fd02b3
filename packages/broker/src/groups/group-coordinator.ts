// The group coordinator of this broker: checks what needs no group, and sends everything else to the shard that has the group.

import {
  type ConsumerGroupDescribeResponse,
  type ConsumerGroupHeartbeatRequest,
  type DescribeGroupsResponse,
  errorCodes,
  type HeartbeatRequest,
  type JoinGroupRequest,
  type LeaveGroupRequest,
  type LeaveGroupResponse,
  type ListGroupsResponse,
  type MessageInit,
  ProtocolError,
  type SyncGroupRequest,
} from '@odradek/protocol';
import { type Clock, ConfigError, type Logger, type Timer, type TimerTask } from '@odradek/runtime';
import { coordinatorPartition } from '../coordinator/coordinator-partition.ts';
import type { CoordinatorPartitions } from '../coordinator/coordinator-partitions.ts';
import { CoordinatorRuntime } from '../coordinator/coordinator-runtime.ts';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import type { Assignor } from './assignors/assignor.ts';
import { rangeAssignor } from './assignors/range-assignor.ts';
import { uniformAssignor } from './assignors/uniform-assignor.ts';
import type { JoinAnswer, SyncAnswer } from './classic-member.ts';
import { type JoinContext, joinErrorAnswer } from './classic-membership.ts';
import type { ConsumerHeartbeatAnswer, MemberContext } from './consumer-membership.ts';
import type { GroupSettings } from './group-settings.ts';
import { GroupShard } from './group-shard.ts';
import type { OffsetCommit, OffsetCommitAnswer } from './offset-commits.ts';
import type { FetchedOffsets, OffsetQuery } from './offset-fetches.ts';

type LeaveAnswer = MessageInit<typeof LeaveGroupResponse>;
type DescribedGroup = NonNullable<MessageInit<typeof DescribeGroupsResponse>['groups']>[number];
type DescribedConsumerGroup = NonNullable<MessageInit<typeof ConsumerGroupDescribeResponse>['groups']>[number];
type ListedGroup = NonNullable<MessageInit<typeof ListGroupsResponse>['groups']>[number];

export interface GroupCoordinatorParts {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly partitions: CoordinatorPartitions;
  readonly settings: GroupSettings;
  readonly metadata: () => MetadataSnapshot;
  /** A fresh uuid in its usual form of hexadecimal groups, and in Kafka's of 22 characters. */
  readonly uuid: () => string;
  readonly shortUuid: () => string;
}

export class GroupCoordinator {
  readonly #parts: GroupCoordinatorParts;
  readonly #runtime: CoordinatorRuntime<GroupShard>;
  #expiryTask: TimerTask | undefined;
  #topicsVersion = 0;
  #isClosed = false;

  constructor(parts: GroupCoordinatorParts) {
    this.#parts = parts;
    const assignors = assignorsOf(parts.settings.consumerAssignors);
    this.#runtime = new CoordinatorRuntime({
      partitions: parts.partitions,
      clock: parts.clock,
      timer: parts.timer,
      logger: parts.logger,
      writeTimeoutMs: () => parts.settings.commitTimeoutMs,
      createShard: (_partition, timer) => new GroupShard({ ...parts, timer, assignors, topicsVersion: () => this.#topicsVersion }),
    });
  }

  start(): void {
    this.#scheduleExpiry();
  }

  close(): void {
    this.#isClosed = true;
    this.#expiryTask?.cancel();
    this.#runtime.close();
  }

  /** This broker leads a partition of `__consumer_offsets` from now on. */
  async onElection(partition: number, leaderEpoch: number): Promise<void> {
    await this.#runtime.load(partition, leaderEpoch);
  }

  /** With an epoch: unless this broker has become the leader again since. */
  onResignation(partition: number, leaderEpoch?: number): void {
    this.#runtime.unload(partition, leaderEpoch);
  }

  /** The shards that are loaded here, for metrics. */
  shards(): Iterable<GroupShard> {
    return this.#runtime.activeShards();
  }

  /** The partition of `__consumer_offsets` that the group belongs to. */
  partitionOf(groupId: string): number {
    return coordinatorPartition(groupId, this.#parts.partitions.count);
  }

  join(request: JoinGroupRequest, context: JoinContext): Promise<JoinAnswer> {
    const { groupId, memberId, sessionTimeoutMs } = request;
    if (groupId === '') return Promise.resolve(joinErrorAnswer(memberId, errorCodes.INVALID_GROUP_ID));
    const { minSessionTimeoutMs, maxSessionTimeoutMs } = this.#parts.settings;
    if (sessionTimeoutMs < minSessionTimeoutMs || sessionTimeoutMs > maxSessionTimeoutMs) {
      return Promise.resolve(joinErrorAnswer(memberId, errorCodes.INVALID_SESSION_TIMEOUT));
    }
    return this.#runtime.write(this.partitionOf(groupId), (shard) => shard.join(request, context));
  }

  async sync(request: SyncGroupRequest): Promise<SyncAnswer> {
    this.#checkGroupId(request.groupId);
    try {
      return await this.#runtime.write(this.partitionOf(request.groupId), (shard) => shard.sync(request));
    } catch (error) {
      // The rebalance is lost with the coordinator that it began with. Java's consumers do not expect to hear of loading here and end.
      if (isLoading(error)) return { errorCode: errorCodes.REBALANCE_IN_PROGRESS };
      throw error;
    }
  }

  async heartbeat(request: HeartbeatRequest): Promise<number> {
    this.#checkGroupId(request.groupId);
    try {
      return await this.#runtime.write(this.partitionOf(request.groupId), (shard) => shard.heartbeat(request));
    } catch (error) {
      // A member that hears nothing bad keeps its place; its session begins anew once the group is loaded.
      if (isLoading(error)) return errorCodes.NONE;
      throw error;
    }
  }

  async leave(groupId: string, members: LeaveGroupRequest['members']): Promise<LeaveAnswer> {
    this.#checkGroupId(groupId);
    return this.#runtime.write(this.partitionOf(groupId), (shard) => shard.leave(groupId, members));
  }

  commit(commit: OffsetCommit): Promise<OffsetCommitAnswer> {
    // Consumers that assign partitions themselves may have an empty group id, as they had in Kafka from the start.
    return this.#runtime.write(this.partitionOf(commit.groupId), ({ offsetOperations }) => offsetOperations.commit(commit));
  }

  async fetchOffsets(query: OffsetQuery): Promise<FetchedOffsets> {
    try {
      return await this.#runtime.read(this.partitionOf(query.groupId), ({ offsetOperations }) => offsetOperations.fetch(query));
    } catch (error) {
      // Consumers before 3.9 do not try again when the coordinator is not available, but look for one when this is none.
      const isUnavailable = error instanceof ProtocolError && error.code === errorCodes.COORDINATOR_NOT_AVAILABLE;
      throw isUnavailable ? new ProtocolError(errorCodes.NOT_COORDINATOR, error.message, { cause: error }) : error;
    }
  }

  /** Answers an error code for each partition. */
  async deleteOffsets(
    groupId: string,
    topics: ReadonlyMap<string, readonly number[]>,
  ): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
    this.#checkGroupId(groupId);
    return this.#runtime.write(this.partitionOf(groupId), ({ offsetOperations }) => offsetOperations.delete(groupId, topics));
  }

  /** There are new topics, which expressions may match. */
  topicsCreated(): void {
    this.#topicsVersion += 1;
  }

  /** By name, with their ids. */
  async topicsDeleted(topics: ReadonlyMap<string, string>): Promise<void> {
    await Promise.all(
      this.#runtime
        .activePartitions()
        .map((partition) => this.#quietly(partition, ({ offsetOperations }) => offsetOperations.topicsDeleted(topics))),
    );
  }

  /** Throws UNSUPPORTED_VERSION where the protocol is not enabled. */
  async consumerHeartbeat(request: ConsumerGroupHeartbeatRequest, context: MemberContext): Promise<ConsumerHeartbeatAnswer> {
    this.#ensureConsumerProtocol();
    return this.#runtime.write(this.partitionOf(request.groupId), (shard) => shard.consumerHeartbeat(request, context));
  }

  async describeConsumer(groupId: string): Promise<DescribedConsumerGroup> {
    this.#ensureConsumerProtocol();
    this.#checkGroupId(groupId);
    return this.#runtime.read(this.#partitionNow(groupId), (shard) => shard.describeConsumer(groupId));
  }

  #ensureConsumerProtocol(): void {
    if (!this.#parts.settings.hasConsumerProtocol) throw new ProtocolError(errorCodes.UNSUPPORTED_VERSION);
  }

  describe(groupId: string): Promise<DescribedGroup> {
    return this.#runtime.read(this.#partitionNow(groupId), (shard) => shard.describe(groupId));
  }

  /** Throws COORDINATOR_LOAD_IN_PROGRESS while a shard is loading: the list would lack its groups. */
  async list(): Promise<ListedGroup[]> {
    if (this.#runtime.isLoading) throw new ProtocolError(errorCodes.COORDINATOR_LOAD_IN_PROGRESS);
    const lists = await Promise.all(this.#runtime.activePartitions().map((partition) => this.#listOf(partition)));
    return lists.flat();
  }

  /** Nothing where another broker has become the coordinator meanwhile: that one will be asked too. */
  async #listOf(partition: number): Promise<ListedGroup[]> {
    try {
      return await this.#runtime.read(partition, (shard) => shard.list());
    } catch (error) {
      if (error instanceof ProtocolError && error.code === errorCodes.NOT_COORDINATOR) return [];
      throw error;
    }
  }

  delete(groupId: string): Promise<void> {
    return this.#runtime.write(this.#partitionNow(groupId), (shard) => shard.delete(groupId));
  }

  /** The partition of a group that an administrator asks about: members whose sessions are over by now are none any more. */
  #partitionNow(groupId: string): number {
    const partition = this.partitionOf(groupId);
    this.#runtime.runOverdueTimers(partition);
    return partition;
  }

  #checkGroupId(groupId: string): void {
    if (groupId === '') throw new ProtocolError(errorCodes.INVALID_GROUP_ID);
  }

  #scheduleExpiry(): void {
    this.#expiryTask = this.#parts.timer.schedule(this.#parts.settings.offsetsRetentionCheckIntervalMs, () => {
      void this.#expire().then(() => {
        if (!this.#isClosed) this.#scheduleExpiry();
      });
    });
  }

  /** One shard after the other, and others in between: there may be a million offsets to look at. */
  async #expire(): Promise<void> {
    for (const partition of this.#runtime.activePartitions()) {
      void this.#quietly(partition, ({ offsetOperations }) => offsetOperations.expire());
      await new Promise<void>((resolve) => this.#parts.timer.afterThisTurn(resolve));
    }
  }

  /** Work that nobody waits for: what could not be done now is done another time. */
  async #quietly(partition: number, operation: Parameters<CoordinatorRuntime<GroupShard>['write']>[1]): Promise<void> {
    try {
      await this.#runtime.write(partition, operation);
    } catch (error) {
      this.#parts.logger.warn('A coordinator partition could not be tidied', { partition, error });
    }
  }
}

function isLoading(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === errorCodes.COORDINATOR_LOAD_IN_PROGRESS;
}

/** Those that are named, in their order; the first is the default. Throws ConfigError for one that there is not. */
function assignorsOf(names: readonly string[]): ReadonlyMap<string, Assignor> {
  return new Map(names.map((name) => assignorOf(name)).map((assignor) => [assignor.name, assignor]));
}

function assignorOf(name: string): Assignor {
  switch (name) {
    // Up to Kafka 4.0 they went by the names of their classes.
    case 'uniform':
    case 'org.apache.kafka.coordinator.group.assignor.UniformAssignor':
      return uniformAssignor;
    case 'range':
    case 'org.apache.kafka.coordinator.group.assignor.RangeAssignor':
      return rangeAssignor;
    default:
      throw new ConfigError(`group.consumer.assignors must name uniform or range, not ${name}`);
  }
}
