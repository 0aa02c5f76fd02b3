// Follows one broker: a loop that copies what it leads, batch by batch, into the replicas here.
//
// One request is under way at a time. It asks for what comes after all that is written here, and thereby tells the leader that the rest is;
// so nothing is asked for before what came last is written. What goes wrong with one partition, its disk included, does not hold
// up the others.
//
// Of thousands of partitions nearly all are idle. One is settled when the session asks for what comes next in it and it lacks nothing that is
// committed; it is not looked at again before the leader, or somebody here, has something to say of it.

import type { Connection } from '@odradek/client/connection';
import { ConnectionError } from '@odradek/client/connection';
import {
  errorByCode,
  errorCodes,
  FetchRequest,
  FetchResponse,
  ListOffsetsRequest,
  ListOffsetsResponse,
  type Message,
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
  ProtocolError,
  zeroUuid,
} from '@odradek/protocol';
import type { Clock, Counter, Logger, Timer, TimerTask } from '@odradek/runtime';
import type { AppendInfo } from '@odradek/storage';
import { FetchSessionClient, type SessionPartition } from './fetch-session-client.ts';
import { FollowedPartition, type FollowedPartitionParts } from './followed-partition.ts';
import { afterOutOfRange } from './follower-truncation.ts';
import type { Partition } from './partition.ts';
import { PartitionMap } from './partition-map.ts';
import type { ReplicationQuota } from './replication-quota.ts';

export interface FetcherSettings {
  /** replica.fetch.min.bytes, replica.fetch.max.bytes, replica.fetch.response.max.bytes, replica.fetch.wait.max.ms */
  readonly minBytes: number;
  readonly partitionMaxBytes: number;
  readonly responseMaxBytes: number;
  readonly maxWaitMs: number;
  /** replica.fetch.backoff.ms */
  readonly backoffMs: number;
  /** replica.socket.timeout.ms */
  readonly timeoutMs: number;
}

export interface ReplicaFetcherParts {
  readonly brokerId: number;
  readonly brokerEpoch: () => number;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly settings: () => FetcherSettings;
  /** For what throttled replicas fetch. */
  readonly quota: ReplicationQuota;
  /** A connection to the leader's broker, opened if need be. */
  readonly connect: () => Promise<Connection>;
  readonly fetchedBytes: Counter;
}

const fetch = { request: FetchRequest, response: FetchResponse };
const epochEnds = { request: OffsetForLeaderEpochRequest, response: OffsetForLeaderEpochResponse };
const listOffsets = { request: ListOffsetsRequest, response: ListOffsetsResponse };
const [latest, earliest] = [-1, -2];
const firstVersionWithDivergence = 12;
const lastVersionWithTopicNames = 12;

type PartitionData = FetchResponse['responses'][number]['partitions'][number];

/** Records that were appended and are on their way to the disk. */
interface Appended {
  readonly followed: FollowedPartition;
  readonly data: PartitionData;
  readonly info: AppendInfo;
}

export class ReplicaFetcher {
  readonly #parts: ReplicaFetcherParts;
  readonly #session = new FetchSessionClient();
  readonly #followed = new Map<Partition, FollowedPartition>();
  /** The same by name, for what comes from the leader. */
  readonly #byName = new PartitionMap<FollowedPartition>();
  /** Those that must be looked at before the next request. */
  readonly #unsettled = new Set<FollowedPartition>();
  /** Those whose topic has no id yet, as far as is known. */
  readonly #nameless = new Set<FollowedPartition>();
  readonly #followedParts: FollowedPartitionParts;
  /** What the last request went by. */
  #canDiverge = false;
  #partitionMaxBytes = -1;
  #isClosed = false;
  /** The last attempt has failed. */
  #isLost = false;
  #wake: (() => void) | undefined;
  readonly #ended: Promise<void>;

  constructor(parts: ReplicaFetcherParts) {
    this.#parts = parts;
    const { clock, logger, settings } = parts;
    this.#followedParts = { clock, logger, backoffMs: () => settings().backoffMs };
    this.#ended = this.#run();
  }

  get partitionCount(): number {
    return this.#followed.size;
  }

  /** Those that are given up until the controller has something new to say. */
  get failedCount(): number {
    let count = 0;
    for (const { state } of this.#followed.values()) if (state === 'failed') count += 1;
    return count;
  }

  /** The largest of all partitions. */
  get maxLag(): number {
    let most = 0;
    for (const { lag } of this.#followed.values()) most = Math.max(most, lag ?? 0);
    return most;
  }

  /** Follows the partition in the leader epoch that it is in. One that is followed in that epoch already goes on as it was. */
  follow(partition: Partition): void {
    const known = this.#followed.get(partition);
    if (known !== undefined && known.leaderEpoch === partition.leaderEpoch && known.state !== 'failed') return;
    if (known !== undefined) this.#leave(known);
    const followed = new FollowedPartition(partition, this.#followedParts);
    // The broker that leads is the same.
    followed.lag = known?.lag;
    this.#followed.set(partition, followed);
    this.#byName.set(partition.topic, partition.index, followed);
    this.#unsettled.add(followed);
    if (partition.topicId === zeroUuid) this.#nameless.add(followed);
    this.#wake?.();
  }

  unfollow(partition: Partition): void {
    const followed = this.#followed.get(partition);
    if (followed === undefined) return;
    this.#leave(followed);
    this.#followed.delete(partition);
    const { topic, index } = partition;
    if (this.#byName.get(topic, index) === followed) this.#byName.delete(topic, index);
  }

  #leave(followed: FollowedPartition): void {
    followed.end();
    this.#unsettled.delete(followed);
    this.#nameless.delete(followed);
    if (followed.lastWanted !== undefined) this.#session.drop(followed.lastWanted);
  }

  /** Its log is not as it was when it was looked at last. */
  logChanged(partition: Partition): void {
    const followed = this.#followed.get(partition);
    if (followed !== undefined) this.#unsettled.add(followed);
  }

  partitions(): Iterable<Partition> {
    return this.#followed.keys();
  }

  /** Settles when the loop has come to its end; whoever gives the connections ends the request that is under way. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const partition of [...this.#followed.keys()]) this.unfollow(partition);
    this.#wake?.();
    return this.#ended;
  }

  async #run(): Promise<void> {
    // Not at once: whoever makes a fetcher is about to tell it what to follow.
    await this.#pause(0);
    while (!this.#isClosed) {
      const due = this.#due();
      if (due.length === 0 && this.#session.isEmpty) {
        await this.#pause(this.#nextDueMs());
        continue;
      }
      try {
        const connection = await this.#parts.connect();
        if (this.#isClosed) return;
        if (this.#isLost) this.#parts.logger.info('The leader can be reached again');
        this.#isLost = false;
        await this.#truncate(connection, due);
        if (!this.#isClosed && !(await this.#fetch(connection))) await this.#pause(this.#parts.settings().backoffMs);
      } catch (error) {
        this.#session.failed();
        if (this.#isClosed) return;
        this.#lost(error);
        await this.#pause(this.#parts.settings().backoffMs);
      }
    }
  }

  #lost(error: unknown): void {
    const { logger } = this.#parts;
    const isKnown = this.#isLost;
    this.#isLost = true;
    if (!(error instanceof ConnectionError)) logger.error('Fetching has failed unexpectedly', { error });
    else if (isKnown) logger.debug(`Still nothing can be fetched: ${reasonOf(error)}`);
    else logger.warn(`Nothing can be fetched for the time being: ${reasonOf(error)}`);
  }

  /** Of those that must be looked at. */
  #due(): FollowedPartition[] {
    const nowMs = this.#parts.clock.monotonicMs();
    return [...this.#unsettled].filter(({ dueMs }) => dueMs <= nowMs);
  }

  /** undefined: nothing is waited for. */
  #nextDueMs(): number | undefined {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { dueMs } of this.#unsettled) nextMs = Math.min(nextMs, dueMs);
    return nextMs === Number.POSITIVE_INFINITY ? undefined : Math.max(1, nextMs - this.#parts.clock.monotonicMs());
  }

  /** Until somebody wakes the loop, or the time is up. */
  #pause(ms: number | undefined): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      let task: TimerTask | undefined;
      const wake = (): void => {
        task?.cancel();
        this.#wake = undefined;
        resolve();
      };
      this.#wake = wake;
      if (ms !== undefined) task = this.#parts.timer.schedule(ms, wake);
    });
  }

  // ---- Truncation before the first fetch ----

  async #truncate(connection: Connection, due: readonly FollowedPartition[]): Promise<void> {
    const canDiverge = connection.version(fetch, this.#fetchVersions()) >= firstVersionWithDivergence;
    const asking: { readonly followed: FollowedPartition; readonly epoch: number }[] = [];
    for (const followed of due) {
      if (followed.state === 'fetching' || !followed.isCurrent) continue;
      followed.guarded(() => {
        const { latestEpoch: epoch } = followed.partition.log;
        followed.state = canDiverge && epoch !== undefined ? 'fetching' : 'truncating';
        if (followed.state === 'fetching') return;
        if (epoch !== undefined && connection.versions(epochEnds).max >= 0) asking.push({ followed, epoch });
        else followed.cutOffAtHighWatermark();
      });
    }
    if (asking.length === 0) return;
    const { topics } = await connection.send(
      epochEnds,
      { replicaId: this.#parts.brokerId, topics: epochQuestions(asking) },
      { timeoutMs: this.#parts.settings().timeoutMs },
    );
    const answers = new Map(
      topics.flatMap(({ topic, partitions }) => partitions.map((answer) => [`${topic}/${answer.partition}`, answer])),
    );
    for (const { followed } of asking) {
      if (!followed.isCurrent) continue;
      const { topic, index } = followed.partition;
      const answer = answers.get(`${topic}/${index}`);
      if (answer?.errorCode === errorCodes.NONE) followed.guarded(() => followed.cutOffAt(answer));
      else followed.refused(answer?.errorCode ?? errorCodes.UNKNOWN_SERVER_ERROR);
    }
  }

  // ---- Fetching ----

  /** False: there was nothing to ask for, or the answer was a refusal: wait before the next. */
  async #fetch(connection: Connection): Promise<boolean> {
    const { brokerId, brokerEpoch, settings } = this.#parts;
    const { minBytes, responseMaxBytes, maxWaitMs, timeoutMs } = settings();
    const versions = this.#fetchVersions();
    this.#settle(connection.version(fetch, versions));
    // Some may have to be cut off further; others are held back for a while.
    if (this.#session.isEmpty) return this.#due().some(({ state }) => state !== 'fetching');
    const answer = await connection.ask(
      fetch,
      (version) => ({
        ...(version >= 15 ? { replicaState: { replicaId: brokerId, replicaEpoch: brokerEpoch() } } : { replicaId: brokerId }),
        maxWaitMs,
        minBytes,
        maxBytes: responseMaxBytes,
        isolationLevel: 0,
        ...this.#session.request(version),
      }),
      { ...versions, timeoutMs },
    );
    try {
      if (!this.#session.answered(answer.message)) {
        const { errorCode } = answer.message;
        this.#parts.logger.info('The fetch session begins anew', { error: errorByCode(errorCode).name });
        return errorCode === errorCodes.FETCH_SESSION_ID_NOT_FOUND || errorCode === errorCodes.INVALID_FETCH_SESSION_EPOCH;
      }
      await this.#take(connection, answer.message);
    } finally {
      answer.release();
    }
    return true;
  }

  /** By names, as long as the id of any topic is not known. */
  #fetchVersions(): { readonly maxVersion?: number } {
    for (const followed of this.#nameless) {
      if (followed.partition.topicId === zeroUuid) continue;
      this.#nameless.delete(followed);
      this.#unsettled.add(followed);
    }
    return this.#nameless.size > 0 ? { maxVersion: lastVersionWithTopicNames } : {};
  }

  /** Lets the session ask for what comes next in each partition that may be asked for now. */
  #settle(version: number): void {
    const { partitionMaxBytes } = this.#parts.settings();
    const canDiverge = version >= firstVersionWithDivergence;
    if (canDiverge !== this.#canDiverge || partitionMaxBytes !== this.#partitionMaxBytes) {
      this.#canDiverge = canDiverge;
      this.#partitionMaxBytes = partitionMaxBytes;
      for (const followed of this.#followed.values()) this.#unsettled.add(followed);
    }
    const mayBeAsked = this.#askable();
    for (const followed of this.#unsettled) {
      const last = followed.lastWanted;
      let wanted: SessionPartition | undefined;
      if (mayBeAsked(followed))
        followed.guarded(() => {
          wanted = followed.wanted(canDiverge, partitionMaxBytes);
        });
      if (wanted !== undefined) this.#session.want(wanted);
      else if (last !== undefined) this.#session.drop(last);
      // One that lags may have to be held back later.
      if (wanted !== undefined && followed.lag === 0) this.#unsettled.delete(followed);
    }
  }

  #askable(): (followed: FollowedPartition) => boolean {
    const { quota, clock } = this.#parts;
    const isOverQuota = quota.isExceeded;
    const nowMs = clock.monotonicMs();
    return ({ state, isCurrent, dueMs, lag, partition }) =>
      state === 'fetching' &&
      isCurrent &&
      dueMs <= nowMs &&
      !(isOverQuota && lag !== 0 && quota.isThrottled(partition.topic, partition.index));
  }

  async #take(connection: Connection, { responses }: Message<typeof FetchResponse>): Promise<void> {
    const appended: Appended[] = [];
    const outOfRange: FollowedPartition[] = [];
    for (const { topic, topicId, partitions } of responses) {
      for (const data of partitions) {
        const asked = this.#session.asked({ topic, topicId, partition: data.partitionIndex });
        const followed = asked === undefined ? undefined : this.#byName.get(asked.topic, asked.partition);
        if (followed !== undefined) this.#unsettled.add(followed);
        if (asked === undefined || followed === undefined || !this.#isStillAsked(followed, asked)) {
          this.#tellAgain();
          continue;
        }
        if (data.errorCode === errorCodes.OFFSET_OUT_OF_RANGE) outOfRange.push(followed);
        else if (data.errorCode !== errorCodes.NONE) followed.refused(data.errorCode);
        else followed.guarded(() => this.#append(followed, data, appended));
      }
    }
    await Promise.all(appended.map((each) => this.#written(each)));
    for (const followed of outOfRange) await this.#recover(connection, followed);
  }

  /** In a session the leader tells its high watermark once; when that was not taken, only a new session brings it again. */
  #tellAgain(): void {
    this.#session.failed();
  }

  /** While the request was under way the controller may have ordered something else. */
  #isStillAsked(followed: FollowedPartition, asked: SessionPartition): boolean {
    return (
      followed.isCurrent &&
      followed.state === 'fetching' &&
      followed.leaderEpoch === asked.currentLeaderEpoch &&
      followed.partition.hasLog &&
      followed.partition.log.logEndOffset === asked.fetchOffset
    );
  }

  #append(followed: FollowedPartition, data: PartitionData, appended: Appended[]): void {
    const { partition } = followed;
    const { epoch: leaderEpoch, endOffset } = data.divergingEpoch;
    if (endOffset >= 0) {
      followed.cutOffAt({ leaderEpoch, endOffset });
      this.#tellAgain();
      return;
    }
    const records = data.records;
    if (records !== null && records.length > 0) {
      const info = partition.appendAsFollower(records);
      if (info.sizeBytes > 0) {
        this.#parts.fetchedBytes.value += info.sizeBytes;
        if (this.#parts.quota.isThrottled(partition.topic, partition.index)) this.#parts.quota.record(info.sizeBytes);
        appended.push({ followed, data, info });
        return;
      }
    }
    followed.followOffsets(data);
  }

  async #written({ followed, data, info }: Appended): Promise<void> {
    try {
      await info.written;
    } catch (error) {
      followed.failed(error);
      return;
    }
    followed.partition.recordWritten();
    if (followed.isCurrent) followed.guarded(() => followed.followOffsets(data));
  }

  /** The leader does not have the offset: what is here may be too much, or of another time. */
  async #recover(connection: Connection, followed: FollowedPartition): Promise<void> {
    const { partition } = followed;
    const ask = async (timestamp: number): Promise<number> => this.#askOffset(connection, followed, timestamp);
    try {
      const leaderEnd = await ask(latest);
      const then = await afterOutOfRange(partition.log.logEndOffset, leaderEnd, () => ask(earliest));
      if (!followed.isCurrent) return;
      followed.startOver(then, leaderEnd);
    } catch (error) {
      if (error instanceof ConnectionError) throw error;
      if (!followed.isCurrent) return;
      if (error instanceof ProtocolError && error.code !== errorCodes.KAFKA_STORAGE_ERROR) {
        followed.refused(error.code);
      } else followed.failed(error);
    }
  }

  async #askOffset(connection: Connection, { partition, leaderEpoch }: FollowedPartition, timestamp: number): Promise<number> {
    const { topic: name, index: partitionIndex } = partition;
    const asked = { partitionIndex, currentLeaderEpoch: leaderEpoch, timestamp, maxNumOffsets: 1 };
    const { topics } = await connection.send(
      listOffsets,
      { replicaId: this.#parts.brokerId, isolationLevel: 0, topics: [{ name, partitions: [asked] }] },
      { timeoutMs: this.#parts.settings().timeoutMs },
    );
    const answer = topics[0]?.partitions[0];
    if (answer === undefined) throw new ProtocolError(errorCodes.UNKNOWN_SERVER_ERROR);
    if (answer.errorCode !== errorCodes.NONE) throw new ProtocolError(answer.errorCode);
    return answer.oldStyleOffsets[0] ?? answer.offset;
  }
}

/** With what lies behind it, in one line. */
function reasonOf(error: ConnectionError): string {
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

function epochQuestions(asking: readonly { readonly followed: FollowedPartition; readonly epoch: number }[]) {
  const topics = new Map<string, { partition: number; currentLeaderEpoch: number; leaderEpoch: number }[]>();
  for (const { followed, epoch } of asking) {
    const { topic, index: partition } = followed.partition;
    const question = { partition, currentLeaderEpoch: followed.leaderEpoch, leaderEpoch: epoch };
    const questions = topics.get(topic);
    if (questions === undefined) topics.set(topic, [question]);
    else questions.push(question);
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
}
