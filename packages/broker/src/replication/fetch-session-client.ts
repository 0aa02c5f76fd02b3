// A follower's part in a fetch session (KIP-227): it tells the leader its partitions once, and then only what has changed. It mirrors
// fetch-sessions.ts, the leader's part.

import { errorCodes, type FetchRequest, type MessageInit } from '@odradek/protocol';

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
  /** `topic/partition` and `topic id/partition`, made once: there may be thousands of partitions, and they are gone through for each request. */
  readonly nameKey: string;
  readonly idKey: string;
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
  /**
   * What the last request was about, by key; in an open session what the leader knows. It is kept from request to request: when one of them
   * fails, the next tells everything anyway.
   */
  #asked = new Map<string, SessionPartition>();

  /** What to send in order to get these partitions; from version 13 on all of them must have the ids of their topics. */
  request(wanted: readonly SessionPartition[], version: number): SessionRequest {
    const usesTopicIds = version >= firstVersionWithTopicIds;
    // A session goes by names or by ids; the old one is closed by the request that opens the next.
    if (usesTopicIds !== this.#usesTopicIds) this.#nextEpoch = initialEpoch;
    this.#usesTopicIds = usesTopicIds;
    const keyOf = ({ idKey, nameKey }: SessionPartition): string => (usesTopicIds ? idKey : nameKey);
    const isOpen = version >= firstVersionWithSessions && this.#nextEpoch !== initialEpoch;
    if (!isOpen) {
      this.#asked = new Map();
      for (const partition of wanted) this.#asked.set(keyOf(partition), partition);
      if (version < firstVersionWithSessions) return { sessionId: 0, sessionEpoch: -1, ...whole(this.#asked) };
      return { sessionId: this.#sessionId, sessionEpoch: initialEpoch, ...whole(this.#asked) };
    }
    const changed: SessionPartition[] = [];
    for (const partition of wanted) {
      const key = keyOf(partition);
      const known = this.#asked.get(key);
      if (known === partition) continue;
      this.#asked.set(key, partition);
      if (!isSame(known, partition)) changed.push(partition);
    }
    const gone = this.#asked.size === wanted.length ? [] : this.#forget(new Set(wanted));
    return {
      sessionId: this.#sessionId,
      sessionEpoch: this.#nextEpoch,
      topics: byTopic(changed),
      forgottenTopicsData: forgotten(gone),
    };
  }

  /** Takes out what is not wanted any more. */
  #forget(wanted: ReadonlySet<SessionPartition>): SessionPartition[] {
    const gone: SessionPartition[] = [];
    for (const [key, partition] of this.#asked) {
      if (wanted.has(partition)) continue;
      this.#asked.delete(key);
      gone.push(partition);
    }
    return gone;
  }

  /** What the last request asked of the partition, if it did. The answer names its topic as the request did. */
  asked(answered: { readonly topic: string; readonly topicId: string; readonly partition: number }): SessionPartition | undefined {
    return this.#asked.get(`${this.#usesTopicIds ? answered.topicId : answered.topic}/${answered.partition}`);
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

function whole(asked: ReadonlyMap<string, SessionPartition>): Pick<SessionRequest, 'topics' | 'forgottenTopicsData'> {
  return { topics: byTopic(asked.values()), forgottenTopicsData: [] };
}

function isSame(known: SessionPartition | undefined, wanted: SessionPartition): boolean {
  if (known === wanted) return true;
  return (
    known !== undefined &&
    known.fetchOffset === wanted.fetchOffset &&
    known.logStartOffset === wanted.logStartOffset &&
    known.currentLeaderEpoch === wanted.currentLeaderEpoch &&
    known.lastFetchedEpoch === wanted.lastFetchedEpoch &&
    known.maxBytes === wanted.maxBytes
  );
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

function forgotten(partitions: readonly SessionPartition[]): SessionRequest['forgottenTopicsData'] {
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
