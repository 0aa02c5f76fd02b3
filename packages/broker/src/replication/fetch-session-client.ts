// A follower's part in a fetch session (KIP-227): it tells the leader its partitions once, and then only what has changed. It mirrors
// fetch-sessions.ts, the leader's part. A request costs by what has changed since the last.

import { errorCodes, type FetchRequest, type MessageInit } from '@odradek/protocol';
import { PartitionMap } from './partition-map.ts';

/** What is wanted of one partition. */
export interface SessionPartition {
  readonly topic: string;
  readonly topicId: string;
  readonly partition: number;
  readonly currentLeaderEpoch: number;
  readonly fetchOffset: number;
  /** -1: do not look for divergence. */
  readonly lastFetchedEpoch: number;
  readonly logStartOffset: number;
  readonly maxBytes: number;
}

/** The parts of a request that belong to the session. */
export interface SessionRequest {
  readonly sessionId: number;
  readonly sessionEpoch: number;
  readonly topics: NonNullable<MessageInit<typeof FetchRequest>['topics']>;
  readonly forgottenTopicsData: NonNullable<MessageInit<typeof FetchRequest>['forgottenTopicsData']>;
}

const initialEpoch = 0;
const largestInt32 = 0x7fff_ffff;
const firstVersionWithSessions = 7;
const firstVersionWithTopicIds = 13;

export class FetchSessionClient {
  #sessionId = 0;
  #nextEpoch = initialEpoch;
  #usesTopicIds = false;
  /** What is wanted, by the topic's name or id, as the session goes. In an open session the leader knows it but for what follows. */
  #wanted = new PartitionMap<SessionPartition>();
  /** What the leader is to be told with the next request, in an open session. */
  readonly #changed = new Set<SessionPartition>();
  #gone = new PartitionMap<SessionPartition>();

  get isEmpty(): boolean {
    return this.#wanted.size === 0;
  }

  /** Asks for the partition from now on; in place of what was wanted of it so far. */
  want(partition: SessionPartition): void {
    const topic = this.#topicOf(partition);
    const known = this.#wanted.get(topic, partition.partition);
    if (known === partition) return;
    this.#wanted.set(topic, partition.partition, partition);
    if (known !== undefined) this.#changed.delete(known);
    this.#changed.add(partition);
    this.#gone.delete(topic, partition.partition);
  }

  /** Does not ask for it any more, if that is what is wanted of the partition now. */
  drop(partition: SessionPartition): void {
    const topic = this.#topicOf(partition);
    if (this.#wanted.get(topic, partition.partition) !== partition) return;
    this.#wanted.delete(topic, partition.partition);
    this.#changed.delete(partition);
    this.#gone.set(topic, partition.partition, partition);
  }

  /** What to send in order to get what is wanted; from version 13 on all of it must have the ids of its topics. */
  request(version: number): SessionRequest {
    this.#goBy(version >= firstVersionWithTopicIds);
    const isOpen = version >= firstVersionWithSessions && this.#nextEpoch !== initialEpoch;
    const topics = byTopic(isOpen ? this.#changed : this.#wanted.values());
    const forgottenTopicsData = isOpen ? forgotten(this.#gone.values()) : [];
    // If no answer comes, the next request tells everything.
    this.#changed.clear();
    this.#gone = new PartitionMap();
    if (version < firstVersionWithSessions) return { sessionId: 0, sessionEpoch: -1, topics, forgottenTopicsData };
    return { sessionId: this.#sessionId, sessionEpoch: this.#nextEpoch, topics, forgottenTopicsData };
  }

  /** A session goes by names or by ids; the old one is closed by the request that opens the next. */
  #goBy(usesTopicIds: boolean): void {
    if (usesTopicIds === this.#usesTopicIds) return;
    this.#usesTopicIds = usesTopicIds;
    this.#nextEpoch = initialEpoch;
    const wanted = this.#wanted;
    this.#wanted = new PartitionMap();
    for (const partition of wanted.values()) this.#wanted.set(this.#topicOf(partition), partition.partition, partition);
  }

  #topicOf({ topic, topicId }: SessionPartition): string {
    return this.#usesTopicIds ? topicId : topic;
  }

  /** What is wanted of the partition, if it still is. The answer names its topic as the request did. */
  asked(answered: { readonly topic: string; readonly topicId: string; readonly partition: number }): SessionPartition | undefined {
    return this.#wanted.get(this.#usesTopicIds ? answered.topicId : answered.topic, answered.partition);
  }

  /** Takes in the head of the answer. False: the request was refused as a whole, and the next one begins a new session. */
  answered({ errorCode, sessionId }: { readonly errorCode: number; readonly sessionId: number }): boolean {
    if (errorCode !== errorCodes.NONE) {
      if (errorCode === errorCodes.FETCH_SESSION_ID_NOT_FOUND) this.#sessionId = 0;
      this.#nextEpoch = initialEpoch;
      return false;
    }
    if (this.#nextEpoch !== initialEpoch && sessionId !== this.#sessionId) {
      // The leader has closed the session in answering.
      this.#sessionId = 0;
      this.#nextEpoch = initialEpoch;
      return true;
    }
    this.#sessionId = sessionId;
    // Session 0: the leader keeps none, and wants to be told everything each time.
    this.#nextEpoch = sessionId === 0 ? initialEpoch : this.#nextEpoch === largestInt32 ? 1 : this.#nextEpoch + 1;
    return true;
  }

  /** No answer came: whether the leader has moved on in the session is not known. */
  failed(): void {
    this.#nextEpoch = initialEpoch;
  }
}

type AskedTopic = { topic: string; topicId: string; partitions: ReturnType<typeof askedPartition>[] };

function byTopic(partitions: Iterable<SessionPartition>): SessionRequest['topics'] {
  const topics = new Map<string, AskedTopic>();
  for (const wanted of partitions) {
    const { topic, topicId } = wanted;
    const known = topics.get(topic);
    if (known === undefined) topics.set(topic, { topic, topicId, partitions: [askedPartition(wanted)] });
    else known.partitions.push(askedPartition(wanted));
  }
  return [...topics.values()];
}

function askedPartition({
  partition,
  currentLeaderEpoch,
  fetchOffset,
  lastFetchedEpoch,
  logStartOffset,
  maxBytes,
}: SessionPartition) {
  return { partition, currentLeaderEpoch, fetchOffset, lastFetchedEpoch, logStartOffset, partitionMaxBytes: maxBytes };
}

function forgotten(partitions: Iterable<SessionPartition>): SessionRequest['forgottenTopicsData'] {
  // By name and id: a topic that was deleted and made again is another.
  const topics = new Map<string, { topic: string; topicId: string; partitions: number[] }>();
  for (const { topic, topicId, partition } of partitions) {
    const key = `${topicId}/${topic}`;
    const known = topics.get(key);
    if (known === undefined) topics.set(key, { topic, topicId, partitions: [partition] });
    else known.partitions.push(partition);
  }
  return [...topics.values()];
}
