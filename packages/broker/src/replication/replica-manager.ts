// The partitions that this broker holds. Finds them, carries out what the controller orders, and lets requests wait for them; it
// decides nothing about a single partition, which is partition.ts's business.
//
// Later, when several event loops share the partitions, this is the one place that knows which loop owns which. So nothing above
// keeps a Partition across an await.

import { errorCodes, type LeaderAndIsrRequest, ProtocolError, type StopReplicaRequest, zeroUuid } from '@odradek/protocol';
import type { Clock, Logger, Timer, TimerTask } from '@odradek/runtime';
import { isPassingFault, type LogConfig, type LogDirectory, type LogManager, type PartitionLog } from '@odradek/storage';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { Purgatory } from '../purgatory/purgatory.ts';
import { FollowerPatience } from './follower-patience.ts';
import { Partition, type PartitionParts, type PartitionState } from './partition.ts';
import type { ProposeInSync } from './reign.ts';

export interface ReplicaManagerParts {
  readonly brokerId: number;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly logManager: LogManager;
  readonly metadataCache: MetadataCache;
  /** Makes the configs of topics known that have not been seen yet. */
  readonly loadTopicConfigs: (topics: Iterable<string>) => Promise<void>;
  readonly topicLogConfig: (topic: string) => LogConfig;
  readonly maxReplicaLagMs: () => number;
  readonly brokerEpoch: () => number;
  /** The way to the controller for a change of in-sync replicas. */
  readonly proposeInSync: ProposeInSync;
  /** What copies the partitions that other brokers lead. */
  readonly fetchers: PartitionFollowers;
}

export interface PartitionFollowers {
  /** These have another leader than this broker now, or a new epoch of it, or none. */
  follow(partitions: Iterable<Partition>): void;
  /** This broker leads them, or holds them no more. */
  unfollow(partitions: Iterable<Partition>): void;
  /** The partition's log has become another, by something else than following. */
  logChanged(partition: Partition): void;
}

/** What became of one partition that the controller ordered something about. */
export interface PartitionOutcome {
  readonly topicName: string;
  readonly partitionIndex: number;
  readonly errorCode: number;
}

/** The outcome of LeaderAndIsr, not yet in the layout of a version. */
export interface LeaderAndIsrOutcome {
  readonly errorCode: number;
  readonly topics: readonly { readonly topicId: string; readonly partitionErrors: readonly PartitionOutcome[] }[];
}

/** A leader epoch of StopReplica that says: whatever the epoch. -2 is that of a topic being deleted. */
const noEpoch = -1;
const epochDuringDelete = -2;

export class ReplicaManager {
  readonly #parts: ReplicaManagerParts;
  readonly #partitionParts: PartitionParts;
  readonly #topics = new Map<string, Map<number, Partition>>();
  /** By id, of the topics among them. */
  readonly #topicNames = new Map<string, string>();
  /** Of the last controller that was obeyed here. */
  #controllerEpoch = 0;
  #lagCheck: TimerTask | undefined;

  /** How often in-sync replicas have changed since the start. */
  readonly inSyncChanges = { grown: 0, shrunk: 0 };

  /** Told when this broker begins to lead a partition or to follow in it, and when it holds it no more. */
  onRoleChange: (partition: Partition) => void = () => undefined;

  /** Told when a partition could not be made because the disk is full: it is offline until the controller orders it again. */
  onDiskFull: () => void = () => undefined;
  /** How long followers' fetches may wait. */
  readonly #patience = new FollowerPatience();
  /** Those partitions. */
  readonly #withoutRoom = new Set<Partition>();

  /**
   * Requests that wait for a partition: fetches for data, produce requests for replicas, deletions for all replicas. Fetches of followers also
   * wait for more to follow, by their broker's id.
   */
  readonly delayedFetches: Purgatory<Partition | number>;
  readonly delayedProduces: Purgatory<Partition>;
  readonly delayedDeletions: Purgatory<Partition>;

  constructor(parts: ReplicaManagerParts) {
    this.#parts = parts;
    this.delayedFetches = new Purgatory(parts.timer);
    this.delayedProduces = new Purgatory(parts.timer);
    this.delayedDeletions = new Purgatory(parts.timer);
    this.#partitionParts = {
      brokerId: parts.brokerId,
      clock: parts.clock,
      logger: parts.logger,
      maxReplicaLagMs: parts.maxReplicaLagMs,
      brokerEpoch: parts.brokerEpoch,
      isBrokerAlive: (brokerId) => parts.metadataCache.current.broker(brokerId) !== undefined,
      propose: parts.proposeInSync,
      onProgress: (partition) => this.#wake(partition),
      onInSyncChange: (change) => {
        this.inSyncChanges[change] += 1;
      },
    };
    const { logManager, fetchers } = parts;
    const changed = (log: PartitionLog, change: (partition: Partition) => void): void => {
      const partition = this.find(log.topicPartition.topic, log.topicPartition.partition);
      if (partition === undefined) return;
      change(partition);
      fetchers.logChanged(partition);
    };
    logManager.onLogMoved = (log) => changed(log, (partition) => partition.replaceLog(log));
    logManager.onLogShortened = (log) => changed(log, (partition) => partition.recordStartMoved());
  }

  get brokerId(): number {
    return this.#parts.brokerId;
  }

  /** The partition, or undefined when this broker does not hold it. */
  find(topic: string, index: number): Partition | undefined {
    return this.#topics.get(topic)?.get(index);
  }

  /** Throws UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER when it is elsewhere, KAFKA_STORAGE_ERROR when its disk is gone. */
  partition(topic: string, index: number): Partition {
    const partition = this.find(topic, index);
    if (partition === undefined) throw this.#absent(topic, index);
    if (partition.isOffline) {
      throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${topic}-${index} lies on a log directory that is offline`);
    }
    return partition;
  }

  /** The name of a topic of which this broker holds a partition: orders may come before the metadata does. */
  topicName(topicId: string): string | undefined {
    return this.#topicNames.get(topicId);
  }

  *partitions(): Iterable<Partition> {
    for (const partitions of this.#topics.values()) yield* partitions.values();
  }

  /** LeaderAndIsr: leads and follows as the controller says. */
  async becomeLeaderOrFollower(request: LeaderAndIsrRequest): Promise<LeaderAndIsrOutcome> {
    if (request.controllerEpoch < this.controllerEpoch) return this.#refuseOrder(request);
    const topics = topicStatesOf(request);
    await this.#parts.loadTopicConfigs(topics.map(({ topicName }) => topicName));
    // Meanwhile another may have been elected and heard of.
    if (request.controllerEpoch < this.controllerEpoch) return this.#refuseOrder(request);
    this.#controllerEpoch = request.controllerEpoch;
    const changed: Partition[] = [];
    const newlyLed: Partition[] = [];
    const outcome = {
      errorCode: errorCodes.NONE,
      topics: topics.map(({ topicName, topicId, partitionStates }) => ({
        topicId,
        partitionErrors: partitionStates.map((state) => ({
          topicName,
          partitionIndex: state.partitionIndex,
          errorCode: this.#apply(topicName, topicId, state, { changed, newlyLed }),
        })),
      })),
    };
    // All at once: fetchers begin and end once for the whole request.
    this.#parts.fetchers.unfollow(changed.filter(({ isLeader }) => isLeader));
    this.#parts.fetchers.follow(changed.filter(({ isLeader }) => !isLeader));
    if (changed.length > 0) this.#watchLag();
    this.#awaitFollowers(newlyLed);
    return outcome;
  }

  /** Of the last controller that this broker has heard of, whatever that has told it. Nothing is taken from an earlier one. */
  get controllerEpoch(): number {
    return Math.max(this.#controllerEpoch, this.#parts.metadataCache.current.controllerEpoch);
  }

  #refuseOrder({ controllerId, controllerEpoch }: LeaderAndIsrRequest): LeaderAndIsrOutcome {
    this.#parts.logger.warn('Refused LeaderAndIsr of an earlier controller', { controller: controllerId, controllerEpoch });
    return { errorCode: errorCodes.STALE_CONTROLLER_EPOCH, topics: [] };
  }

  /** How long a fetch of this broker, -1 for a consumer, may wait, in ms. */
  fetchWaitMs(brokerId: number, maxWaitMs: number): number {
    return this.#patience.limit(brokerId, maxWaitMs, this.#parts.clock.monotonicMs());
  }

  /** Lets those ask anew who are to follow this broker now. */
  #awaitFollowers(newlyLed: readonly Partition[]): void {
    const followers = new Set<number>();
    for (const { followers: those } of newlyLed) for (const { brokerId } of those) followers.add(brokerId);
    this.#patience.begin(followers, this.#parts.clock.monotonicMs());
    for (const brokerId of followers) this.delayedFetches.check(brokerId);
  }

  /** StopReplica: stops leading and following, and deletes the log where asked. */
  stopReplicas(request: StopReplicaRequest): { readonly errorCode: number; readonly partitionErrors: readonly PartitionOutcome[] } {
    if (request.controllerEpoch < this.controllerEpoch)
      return { errorCode: errorCodes.STALE_CONTROLLER_EPOCH, partitionErrors: [] };
    this.#controllerEpoch = request.controllerEpoch;
    const partitionErrors: PartitionOutcome[] = [];
    for (const { topicName, partitionIndex, leaderEpoch, deletePartition } of stopsOf(request)) {
      const errorCode = this.#stop(topicName, partitionIndex, leaderEpoch, deletePartition);
      partitionErrors.push({ topicName, partitionIndex, errorCode });
    }
    return { errorCode: errorCodes.NONE, partitionErrors };
  }

  /** The disk of a log directory failed: what lies there is offline. Answers the partitions concerned. */
  takeDirectoryOffline(directory: LogDirectory): Partition[] {
    const lost: Partition[] = [];
    for (const partition of this.partitions()) {
      if (!partition.hasLog || partition.log.directory !== directory) continue;
      partition.markOffline();
      this.onRoleChange(partition);
      lost.push(partition);
    }
    this.#parts.fetchers.unfollow(lost);
    return lost;
  }

  /** The topic's configs changed. */
  updateLogConfigs(topic: string): void {
    const partitions = this.#topics.get(topic);
    if (partitions === undefined) return;
    const config = this.#parts.topicLogConfig(topic);
    for (const partition of partitions.values()) if (partition.hasLog) partition.log.updateConfig(config);
  }

  /** The broker's own defaults changed, and with them the configs of every topic. */
  updateAllLogConfigs(): void {
    for (const topic of this.#topics.keys()) this.updateLogConfigs(topic);
  }

  /** Whether a partition could not be made because the disk is full, and has not been ordered again since. */
  get awaitsRoom(): boolean {
    return this.#withoutRoom.size > 0;
  }

  /** Answers everything that waits. */
  close(): void {
    this.#withoutRoom.clear();
    this.#lagCheck?.cancel();
    this.delayedFetches.close();
    this.delayedProduces.close();
    this.delayedDeletions.close();
  }

  /** Looks twice in the time that a follower may lag whether one does. Begins with the first partition. */
  #watchLag(): void {
    if (this.#lagCheck !== undefined) return;
    const check = (): void => {
      for (const partition of this.partitions()) partition.maybeShrinkInSyncReplicas();
      this.#lagCheck = this.#parts.timer.schedule(this.#parts.maxReplicaLagMs() / 2, check);
    };
    this.#lagCheck = this.#parts.timer.schedule(this.#parts.maxReplicaLagMs() / 2, check);
  }

  /** Adds the partition where it belongs when the order was obeyed. */
  #apply(
    topic: string,
    topicId: string,
    state: PlacedState,
    { changed, newlyLed }: { readonly changed: Partition[]; readonly newlyLed: Partition[] },
  ): number {
    const found = this.find(topic, state.partitionIndex);
    // A log that could not be made because the disk was full may be made now.
    const existing = found?.isOffline === true && found.isUnopened ? undefined : found;
    if (existing?.isOffline === true) return errorCodes.KAFKA_STORAGE_ERROR;
    if (existing !== undefined) {
      if (topicId !== zeroUuid && existing.topicId !== zeroUuid && existing.topicId !== topicId)
        return errorCodes.INCONSISTENT_TOPIC_ID;
      if (state.leaderEpoch < existing.leaderEpoch) return errorCodes.STALE_CONTROLLER_EPOCH;
      existing.assignTopicId(topicId);
    }
    if (!state.replicas.includes(this.#parts.brokerId)) return errorCodes.UNKNOWN_TOPIC_OR_PARTITION;
    const partition = existing ?? new Partition(topic, state.partitionIndex, topicId, this.#partitionParts);
    const openLog = (): PartitionLog => this.#openLog(topic, state, topicId);
    try {
      if (state.leader !== this.#parts.brokerId) partition.becomeFollower(state, openLog);
      else if (partition.becomeLeader(state, openLog)) newlyLed.push(partition);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#parts.logger.error('A partition could not be opened', { topic, partition: state.partitionIndex, error });
      if (error.code === errorCodes.KAFKA_STORAGE_ERROR) {
        partition.markOffline();
        this.#keep(partition);
        if (isPassingFault(error.cause)) {
          this.#withoutRoom.add(partition);
          this.onDiskFull();
        }
      }
      return error.code;
    }
    this.#keep(partition);
    changed.push(partition);
    this.onRoleChange(partition);
    // One that was on its way to another directory when the broker stopped goes on.
    this.#parts.logManager.resumeMove({ topic, partition: state.partitionIndex });
    return errorCodes.NONE;
  }

  #openLog(topic: string, { partitionIndex, isNew }: PlacedState, topicId: string): PartitionLog {
    const config = this.#parts.topicLogConfig(topic);
    const log = this.#parts.logManager.getOrCreate({ topic, partition: partitionIndex }, { topicId, config, isNew });
    // One that was found on disk was opened before the topic's own settings were known.
    if (log.config !== config) log.updateConfig(config);
    return log;
  }

  #keep(partition: Partition): void {
    const replaced = this.find(partition.topic, partition.index);
    if (replaced !== undefined && replaced !== partition) this.#withoutRoom.delete(replaced);
    if (partition.topicId !== zeroUuid) this.#topicNames.set(partition.topicId, partition.topic);
    const partitions = this.#topics.get(partition.topic);
    if (partitions === undefined) this.#topics.set(partition.topic, new Map([[partition.index, partition]]));
    else partitions.set(partition.index, partition);
  }

  #stop(topic: string, index: number, leaderEpoch: number, mustDelete: boolean): number {
    const partition = this.find(topic, index);
    if (partition?.isOffline === true && !(mustDelete && this.#isNowhere(partition))) return errorCodes.KAFKA_STORAGE_ERROR;
    const hasEpoch = leaderEpoch !== noEpoch && leaderEpoch !== epochDuringDelete;
    if (partition !== undefined && hasEpoch && leaderEpoch < partition.leaderEpoch) return errorCodes.FENCED_LEADER_EPOCH;
    if (partition !== undefined) this.#forget(partition);
    // A log may be here without a partition: the topic was deleted while this broker was down.
    try {
      if (mustDelete) this.#parts.logManager.delete({ topic, partition: index });
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#parts.logger.error('A log could not be deleted', { topic, partition: index, error });
      return error.code;
    } finally {
      if (partition !== undefined) this.#end(partition);
    }
    return errorCodes.NONE;
  }

  /** The partitions of the topic about which something has been ordered. */
  partitionsOf(topic: string): Iterable<number> {
    return this.#topics.get(topic)?.keys() ?? [];
  }

  /** The log that lies here, whether or not anything has been ordered about its partition yet. */
  foundLog(topic: string, index: number): PartitionLog | undefined {
    return this.#parts.logManager.get({ topic, partition: index });
  }

  /** The partition is on other brokers, and nobody has said so: its log is kept under another name. */
  putAside(log: PartitionLog): void {
    const { topic, partition: index } = log.topicPartition;
    const partition = this.find(topic, index);
    if (partition !== undefined) {
      this.#forget(partition);
      this.#end(partition);
    }
    this.#parts.logManager.putAside(log);
  }

  #forget(partition: Partition): void {
    const { topic, index, topicId } = partition;
    this.#withoutRoom.delete(partition);
    const partitions = this.#topics.get(topic);
    partitions?.delete(index);
    if (partitions?.size !== 0) return;
    this.#topics.delete(topic);
    this.#topicNames.delete(topicId);
  }

  #end(partition: Partition): void {
    this.#parts.fetchers.unfollow([partition]);
    partition.stop();
    this.onRoleChange(partition);
  }

  /** It could not be made, and no log of it lies in a directory that cannot be looked into. */
  #isNowhere(partition: Partition): boolean {
    return partition.isUnopened && this.#parts.logManager.directories.every(({ isOnline }) => isOnline);
  }

  #absent(topic: string, index: number): ProtocolError {
    if (this.#parts.metadataCache.current.partition(topic, index) !== undefined) {
      return new ProtocolError(errorCodes.NOT_LEADER_OR_FOLLOWER, `This broker holds no replica of ${topic}-${index}`);
    }
    return new ProtocolError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, `There is no partition ${topic}-${index}`);
  }

  #wake(partition: Partition): void {
    this.delayedFetches.check(partition);
    this.delayedProduces.check(partition);
    this.delayedDeletions.check(partition);
  }
}

/** The state of one partition, and whether it was just made. */
interface PlacedState extends PartitionState {
  readonly partitionIndex: number;
  readonly isNew: boolean;
}

interface TopicStates {
  readonly topicName: string;
  readonly topicId: string;
  readonly partitionStates: readonly PlacedState[];
}

/** Versions 0 and 1 name the topic with each partition; 2 and later group them. */
function topicStatesOf(request: LeaderAndIsrRequest): readonly TopicStates[] {
  if (request.ungroupedPartitionStates.length === 0) return request.topicStates;
  const byTopic = new Map<string, LeaderAndIsrRequest['ungroupedPartitionStates'][number][]>();
  for (const state of request.ungroupedPartitionStates) {
    const states = byTopic.get(state.topicName);
    if (states === undefined) byTopic.set(state.topicName, [state]);
    else states.push(state);
  }
  return [...byTopic].map(([topicName, partitionStates]) => ({ topicName, topicId: zeroUuid, partitionStates }));
}

interface Stop {
  readonly topicName: string;
  readonly partitionIndex: number;
  readonly leaderEpoch: number;
  readonly deletePartition: boolean;
}

function* stopsOf(request: StopReplicaRequest): Iterable<Stop> {
  const { deletePartitions } = request;
  for (const { topicName, partitionIndex } of request.ungroupedPartitions) {
    yield { topicName, partitionIndex, leaderEpoch: noEpoch, deletePartition: deletePartitions };
  }
  for (const { name, partitionIndexes } of request.topics) {
    for (const partitionIndex of partitionIndexes) {
      yield { topicName: name, partitionIndex, leaderEpoch: noEpoch, deletePartition: deletePartitions };
    }
  }
  for (const { topicName, partitionStates } of request.topicStates) {
    for (const { partitionIndex, leaderEpoch, deletePartition } of partitionStates) {
      yield { topicName, partitionIndex, leaderEpoch, deletePartition };
    }
  }
}
