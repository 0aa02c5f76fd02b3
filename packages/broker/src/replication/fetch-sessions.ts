// Fetch sessions (KIP-227): a client names its partitions once, then sends and gets only what changed.
//
// A session is known by its id and moves one epoch with each request; a request with the wrong epoch is refused, so that
// both sides agree on what the session holds. Sessions are few: a slot is freed by evicting one that has not been used for a
// while, or one that is worth less than the newcomer (a follower's is worth more than a consumer's, a large more than a small).

import { errorCodes, type FetchRequest, type FetchResponse, type MessageInit, zeroUuid } from '@odradek/protocol';
import type { Clock, Random } from '@odradek/runtime';
import type { FollowerRest } from './follower-state.ts';
import { RestingPartitions } from './resting-partitions.ts';

const noSession = 0;
const initialEpoch = 0;
const finalEpoch = -1;
const largestInt32 = 0x7fff_ffff;

/** Partitions that all sessions together may hold, about 300 MB: the requests of clients must not fill the memory. */
const maxCachedPartitions = 1_000_000;

/** What a request or a session wants of one partition. */
export interface WantedPartition {
  /** undefined: the topic id is not known (now). */
  topic: string | undefined;
  readonly topicId: string;
  readonly partition: number;
  currentLeaderEpoch: number;
  fetchOffset: number;
  lastFetchedEpoch: number;
  /** Where the follower's log starts; -1 from consumers. */
  followerLogStartOffset: number;
  maxBytes: number;
  /** What the client was told last, in a session. -1 after an error or a divergence, so that the end of that is told. */
  toldHighWatermark: number;
  toldLogStartOffset: number;
  /** While nothing happens to the partition, in a follower's session. */
  rest: FollowerRest | undefined;
}

type FetchTopicInit = NonNullable<NonNullable<MessageInit<typeof FetchResponse>['responses']>[number]>;
export type FetchPartitionInit = NonNullable<NonNullable<FetchTopicInit['partitions']>[number]>;

/** The outcome for one wanted partition; `sizeBytes` is that of `data.records`. */
export interface FetchedPartition {
  readonly wanted: WantedPartition;
  readonly data: FetchPartitionInit;
  readonly sizeBytes: number;
  /** Gives back the buffer that the records lie in, once they have been sent. */
  readonly release: (() => void) | undefined;
}

export interface FetchAnswer {
  readonly errorCode: number;
  readonly sessionId: number;
  readonly responses: FetchTopicInit[];
}

/** One fetch request's part in its session. */
export interface FetchContext {
  /** Not 0: the request is refused with this and wants nothing. */
  readonly errorCode: number;
  /** What there is to look at now: of a follower's session what does not rest. */
  readonly wanted: readonly WantedPartition[];
  /** Nothing at all is wanted. */
  readonly isEmpty: boolean;
  /** Where the partitions of a follower's session rest. */
  readonly resting: RestingPartitions | undefined;
  /** What of the outcome goes into the answer. */
  answer(fetched: readonly FetchedPartition[]): FetchAnswer;
}

/** The parts of a session's id, as `topic or topic id` and partition. */
type PartitionKey = string;

interface Session {
  readonly id: number;
  readonly isFollower: boolean;
  /** Where a follower's partitions rest. */
  readonly resting: RestingPartitions | undefined;
  readonly usesTopicIds: boolean;
  readonly createdMs: number;
  lastUsedMs: number;
  epoch: number;
  /** In the order in which they are served: a partition that gave data moves to the end. */
  readonly partitions: Map<PartitionKey, WantedPartition>;
}

export interface FetchSessionsOptions {
  readonly slots: number;
  /** How long a session is safe from eviction, and after how long without use it is the first to go. */
  readonly evictionMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

export class FetchSessions {
  readonly #options: FetchSessionsOptions;
  readonly #sessions = new Map<number, Session>();
  #cachedPartitions = 0;
  #evictions = 0;

  constructor(options: FetchSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get cachedPartitions(): number {
    return this.#cachedPartitions;
  }

  get evictions(): number {
    return this.#evictions;
  }

  /** Finds what the request wants, and moves its session on. `nameOf` gives the name of a topic id. */
  begin(
    request: FetchRequest,
    version: number,
    isFollower: boolean,
    nameOf: (topicId: string) => string | undefined,
  ): FetchContext {
    const usesTopicIds = version >= 13;
    if (request.sessionEpoch === initialEpoch || request.sessionEpoch === finalEpoch) {
      // A full request closes whatever session it names.
      const named = this.#sessions.get(request.sessionId);
      if (named !== undefined) this.#remove(named);
      const wanted = lastOfEach(wantedPartitions(request, usesTopicIds, nameOf));
      if (request.sessionEpoch === finalEpoch) return sessionless(wanted);
      return this.#fullContext(wanted, usesTopicIds, isFollower);
    }
    const session = this.#sessions.get(request.sessionId);
    if (session === undefined) return refused(errorCodes.FETCH_SESSION_ID_NOT_FOUND);
    if (session.epoch !== request.sessionEpoch) return refused(errorCodes.INVALID_FETCH_SESSION_EPOCH);
    if (session.usesTopicIds !== usesTopicIds) return refused(errorCodes.FETCH_SESSION_TOPIC_ID_ERROR);
    this.#update(session, request, nameOf);
    if (session.partitions.size === 0) {
      this.#remove(session);
      return sessionless([]);
    }
    session.lastUsedMs = this.#options.clock.monotonicMs();
    const { replicaId, replicaEpoch } = replicaOf(request, version);
    session.resting?.recordFetch(replicaId, replicaEpoch, session.lastUsedMs);
    session.epoch = nextEpoch(session.epoch);
    if (this.#cachedPartitions > maxCachedPartitions) {
      // The session has outgrown the room: this request is served, the next one will have to begin a new session.
      this.#remove(session);
    }
    return this.#incrementalContext(session);
  }

  #fullContext(wanted: WantedPartition[], usesTopicIds: boolean, isFollower: boolean): FetchContext {
    return {
      errorCode: errorCodes.NONE,
      wanted,
      isEmpty: wanted.length === 0,
      resting: undefined,
      answer: (fetched) => {
        const session = this.#tryCreate(wanted, usesTopicIds, isFollower);
        if (session === undefined) return { errorCode: errorCodes.NONE, sessionId: noSession, responses: byTopic(fetched) };
        for (const partition of fetched) remember(partition);
        return { errorCode: errorCodes.NONE, sessionId: session.id, responses: byTopic(fetched) };
      },
    };
  }

  #incrementalContext(session: Session): FetchContext {
    const expectedEpoch = session.epoch;
    const { resting } = session;
    const all = resting === undefined ? [...session.partitions.values()] : [];
    return {
      errorCode: errorCodes.NONE,
      get wanted() {
        return resting === undefined ? all : [...resting.awake()];
      },
      isEmpty: false,
      resting,
      answer: (fetched) => {
        // Another request went ahead in the session while this one waited.
        if (session.epoch !== expectedEpoch) {
          return { errorCode: errorCodes.INVALID_FETCH_SESSION_EPOCH, sessionId: session.id, responses: [] };
        }
        const changed: FetchedPartition[] = [];
        for (const partition of fetched) {
          if (!hasNews(partition)) continue;
          remember(partition);
          changed.push(partition);
          if (partition.sizeBytes > 0) moveToEnd(session, partition.wanted);
        }
        return { errorCode: errorCodes.NONE, sessionId: session.id, responses: byTopic(changed) };
      },
    };
  }

  #update(session: Session, request: FetchRequest, nameOf: (topicId: string) => string | undefined): void {
    const before = session.partitions.size;
    for (const wanted of wantedPartitions(request, session.usesTopicIds, nameOf)) {
      const cached = session.partitions.get(keyOf(wanted));
      if (cached === undefined) {
        session.partitions.set(keyOf(wanted), wanted);
        session.resting?.wake(wanted);
        continue;
      }
      session.resting?.wake(cached);
      cached.currentLeaderEpoch = wanted.currentLeaderEpoch;
      cached.fetchOffset = wanted.fetchOffset;
      cached.lastFetchedEpoch = wanted.lastFetchedEpoch;
      cached.followerLogStartOffset = wanted.followerLogStartOffset;
      cached.maxBytes = wanted.maxBytes;
    }
    for (const topic of request.forgottenTopicsData) {
      const name = session.usesTopicIds ? topic.topicId : topic.topic;
      for (const partition of topic.partitions) forget(session, `${name}/${partition}`);
    }
    // A topic may have come, or gone, since the session was told its id. Where one goes nothing rests.
    const lookedAt = session.resting?.awake() ?? session.partitions.values();
    if (session.usesTopicIds) for (const cached of lookedAt) cached.topic = nameOf(cached.topicId);
    this.#cachedPartitions += session.partitions.size - before;
  }

  #tryCreate(wanted: readonly WantedPartition[], usesTopicIds: boolean, isFollower: boolean): Session | undefined {
    if (wanted.length === 0 || this.#cachedPartitions + wanted.length > maxCachedPartitions) return undefined;
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#sessions.size >= this.#options.slots && !this.#tryEvict(wanted.length, isFollower, nowMs)) return undefined;
    let id: number;
    do id = this.#options.random.nextInt(largestInt32) + 1;
    while (this.#sessions.has(id));
    const partitions = new Map(wanted.map((partition) => [keyOf(partition), partition]));
    const session = {
      id,
      isFollower,
      resting: isFollower ? new RestingPartitions(wanted) : undefined,
      usesTopicIds,
      createdMs: nowMs,
      lastUsedMs: nowMs,
      epoch: nextEpoch(initialEpoch),
      partitions,
    };
    this.#sessions.set(id, session);
    this.#cachedPartitions += partitions.size;
    return session;
  }

  #tryEvict(size: number, isFollower: boolean, nowMs: number): boolean {
    let stalest: Session | undefined;
    let cheapest: Session | undefined;
    for (const session of this.#sessions.values()) {
      if (stalest === undefined || session.lastUsedMs < stalest.lastUsedMs) stalest = session;
      const isOld = nowMs - session.createdMs > this.#options.evictionMs;
      const isOpenTo = isFollower ? !session.isFollower || isOld : !session.isFollower && isOld;
      if (isOpenTo && (cheapest === undefined || isWorthLess(session, cheapest))) cheapest = session;
    }
    if (stalest === undefined) return false;
    let victim = cheapest;
    if (nowMs - stalest.lastUsedMs > this.#options.evictionMs) victim = stalest;
    else if (cheapest === undefined || !isWorthLess(cheapest, { isFollower, partitions: { size } })) return false;
    if (victim === undefined) return false;
    this.#remove(victim);
    this.#evictions += 1;
    return true;
  }

  #remove(session: Session): void {
    if (!this.#sessions.delete(session.id)) return;
    this.#cachedPartitions -= session.partitions.size;
  }
}

type Worth = { readonly isFollower: boolean; readonly partitions: { readonly size: number } };

function isWorthLess(one: Worth, other: Worth): boolean {
  if (one.isFollower !== other.isFollower) return other.isFollower;
  return one.partitions.size < other.partitions.size;
}

function refused(errorCode: number): FetchContext {
  const answer = (): FetchAnswer => ({ errorCode, sessionId: noSession, responses: [] });
  return { errorCode, wanted: [], isEmpty: true, resting: undefined, answer };
}

function sessionless(wanted: WantedPartition[]): FetchContext {
  return {
    errorCode: errorCodes.NONE,
    wanted,
    isEmpty: wanted.length === 0,
    resting: undefined,
    answer: (fetched) => ({ errorCode: errorCodes.NONE, sessionId: noSession, responses: byTopic(fetched) }),
  };
}

function wantedPartitions(
  request: FetchRequest,
  usesTopicIds: boolean,
  nameOf: (topicId: string) => string | undefined,
): WantedPartition[] {
  const wanted: WantedPartition[] = [];
  for (const topic of request.topics) {
    const name = usesTopicIds ? nameOf(topic.topicId) : topic.topic;
    for (const partition of topic.partitions) {
      wanted.push({
        topic: name,
        topicId: usesTopicIds ? topic.topicId : zeroUuid,
        partition: partition.partition,
        currentLeaderEpoch: partition.currentLeaderEpoch,
        fetchOffset: partition.fetchOffset,
        lastFetchedEpoch: partition.lastFetchedEpoch,
        followerLogStartOffset: partition.logStartOffset,
        maxBytes: partition.partitionMaxBytes,
        toldHighWatermark: -1,
        toldLogStartOffset: -1,
        rest: undefined,
      });
    }
  }
  return wanted;
}

/** Of a partition that is named more than once the last wish counts, in the place of the first, as in Kafka. */
function lastOfEach(wanted: WantedPartition[]): WantedPartition[] {
  if (wanted.length < 2) return wanted;
  const byKey = new Map(wanted.map((partition) => [keyOf(partition), partition]));
  return byKey.size === wanted.length ? wanted : [...byKey.values()];
}

function keyOf(wanted: WantedPartition): PartitionKey {
  return `${wanted.topicId === zeroUuid ? wanted.topic : wanted.topicId}/${wanted.partition}`;
}

function moveToEnd(session: Session, wanted: WantedPartition): void {
  const key = keyOf(wanted);
  if (session.partitions.delete(key)) session.partitions.set(key, wanted);
  session.resting?.moveToEnd(wanted);
}

function forget(session: Session, key: PartitionKey): void {
  const cached = session.partitions.get(key);
  if (cached === undefined) return;
  session.partitions.delete(key);
  session.resting?.forget(cached);
}

/** Who asks: a consumer has the id -1. Before version 15 a follower does not tell its epoch. */
export function replicaOf(
  { replicaId, replicaState }: FetchRequest,
  version: number,
): { readonly replicaId: number; readonly replicaEpoch: number } {
  return version >= 15 ? replicaState : { replicaId, replicaEpoch: -1 };
}

/** Whether an incremental answer must mention the partition. */
function hasNews({ wanted, data, sizeBytes }: FetchedPartition): boolean {
  return (
    sizeBytes > 0 ||
    data.errorCode !== errorCodes.NONE ||
    data.divergingEpoch !== undefined ||
    data.preferredReadReplica !== -1 ||
    data.highWatermark !== wanted.toldHighWatermark ||
    data.logStartOffset !== wanted.toldLogStartOffset
  );
}

function remember({ wanted, data }: FetchedPartition): void {
  // Who has to cut off its log first does not take the high watermark: it must be told again.
  const isTaken = data.errorCode === errorCodes.NONE && data.divergingEpoch === undefined;
  wanted.toldHighWatermark = isTaken ? (data.highWatermark ?? -1) : -1;
  wanted.toldLogStartOffset = data.logStartOffset ?? -1;
}

/** Neighbours of one topic share an entry; the order of the partitions is kept. */
function byTopic(fetched: readonly FetchedPartition[]): FetchTopicInit[] {
  const topics: FetchTopicInit[] = [];
  let last: WantedPartition | undefined;
  let partitions: FetchPartitionInit[] = [];
  for (const { wanted, data } of fetched) {
    if (last === undefined || last.topic !== wanted.topic || last.topicId !== wanted.topicId) {
      partitions = [];
      topics.push({ topic: wanted.topic ?? '', topicId: wanted.topicId, partitions });
      last = wanted;
    }
    partitions.push(data);
  }
  return topics;
}

function nextEpoch(epoch: number): number {
  return epoch === largestInt32 ? 1 : epoch + 1;
}
