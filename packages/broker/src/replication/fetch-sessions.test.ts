import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, type FetchRequest, zeroUuid } from '@odradek/protocol';
import { type FetchContext, type FetchedPartition, FetchSessions, type WantedPartition } from './fetch-sessions.ts';

type Topics = Record<string, Record<number, number>>;

/** Topics as `{ a: { 0: fetchOffset } }`. */
function request(
  sessionId: number,
  sessionEpoch: number,
  topics: Topics = {},
  forgotten: Record<string, number[]> = {},
  byId = false,
): FetchRequest {
  return {
    clusterId: null,
    replicaId: -1,
    replicaState: { replicaId: -1, replicaEpoch: -1 },
    maxWaitMs: 0,
    minBytes: 0,
    maxBytes: 1,
    isolationLevel: 0,
    sessionId,
    sessionEpoch,
    topics: Object.entries(topics).map(([topic, partitions]) => ({
      topic: byId ? '' : topic,
      topicId: byId ? topic : zeroUuid,
      partitions: Object.entries(partitions).map(([partition, fetchOffset]) => ({
        partition: Number(partition),
        currentLeaderEpoch: -1,
        fetchOffset,
        lastFetchedEpoch: -1,
        logStartOffset: -1,
        partitionMaxBytes: 1,
        replicaDirectoryId: zeroUuid,
        highWatermark: -1,
      })),
    })),
    forgottenTopicsData: Object.entries(forgotten).map(([topic, partitions]) => ({
      topic: byId ? '' : topic,
      topicId: byId ? topic : zeroUuid,
      partitions,
    })),
    rackId: '',
  };
}

function setUp(slots = 10) {
  let nowMs = 0;
  let next = 0;
  const clock = { wallTimeMs: () => nowMs, monotonicMs: () => nowMs };
  const random = { next: () => 0, nextInt: () => next++, bytes: (size: number) => Buffer.alloc(size) };
  const sessions = new FetchSessions({ slots, evictionMs: 120_000, clock, random });
  return {
    sessions,
    advance: (ms: number): void => {
      nowMs += ms;
    },
    begin: (fetch: FetchRequest, version = 12, isFollower = false, names: Record<string, string> = {}): FetchContext =>
      sessions.begin(fetch, version, isFollower, (id) => names[id]),
  };
}

function outcome(
  wanted: WantedPartition,
  highWatermark: number,
  sizeBytes = 0,
  errorCode: number = errorCodes.NONE,
): FetchedPartition {
  const data = { partitionIndex: wanted.partition, errorCode, highWatermark, logStartOffset: 0, preferredReadReplica: -1 };
  return { wanted, data, sizeBytes, release: undefined };
}

/** The answer in which each partition has this high watermark, and data where its name is in `withData`. */
function answer(context: FetchContext, highWatermark: number, withData: readonly string[] = []) {
  const result = context.answer(
    context.wanted.map((wanted) =>
      outcome(wanted, highWatermark, withData.includes(`${wanted.topic}-${wanted.partition}`) ? 5 : 0),
    ),
  );
  return {
    errorCode: result.errorCode,
    sessionId: result.sessionId,
    partitions: result.responses.flatMap((topic) =>
      (topic.partitions ?? []).map((partition) => `${topic.topic}-${partition.partitionIndex}`),
    ),
  };
}

const wantedOf = (context: FetchContext): string[] =>
  context.wanted.map(({ topic, partition, fetchOffset }) => `${topic}-${partition}@${fetchOffset}`);

test('a full request opens a session; the next ones carry only what changed', () => {
  const { begin } = setUp();
  const full = begin(request(0, 0, { a: { 0: 10, 1: 20 }, b: { 0: 30 } }));
  assert.deepEqual(answer(full, 100), { errorCode: 0, sessionId: 1, partitions: ['a-0', 'a-1', 'b-0'] });

  const same = begin(request(1, 1));
  assert.deepEqual(wantedOf(same), ['a-0@10', 'a-1@20', 'b-0@30']);
  assert.deepEqual(answer(same, 100), { errorCode: 0, sessionId: 1, partitions: [] });

  const changed = begin(request(1, 2, { a: { 1: 25, 2: 1 } }, { b: [0] }));
  assert.deepEqual(wantedOf(changed), ['a-0@10', 'a-1@25', 'a-2@1']);
  assert.deepEqual(answer(changed, 100), { errorCode: 0, sessionId: 1, partitions: ['a-2'] });
  assert.deepEqual(answer(begin(request(1, 3)), 101).partitions, ['a-0', 'a-1', 'a-2']);
});

for (const { name, sessionEpoch } of [
  { name: 'in a session', sessionEpoch: 0 },
  { name: 'without one', sessionEpoch: -1 },
]) {
  test(`of a partition that is named more than once the last wish counts, in the place of the first: ${name}`, () => {
    const { begin, sessions } = setUp();
    const once = request(0, sessionEpoch, { a: { 0: 10, 1: 20 } });
    const again = request(0, sessionEpoch, { b: { 0: 30 }, a: { 0: 15 } });
    const twice = begin({ ...once, topics: [...once.topics, ...again.topics] });
    assert.deepEqual(wantedOf(twice), ['a-0@15', 'a-1@20', 'b-0@30']);
    assert.deepEqual(answer(twice, 100).partitions, ['a-0', 'a-1', 'b-0']);
    assert.equal(sessions.cachedPartitions, sessionEpoch === 0 ? 3 : 0);
  });
}

test('a partition that gave data is served last the next time', () => {
  const { begin } = setUp();
  answer(begin(request(0, 0, { a: { 0: 0, 1: 0, 2: 0 } })), 100);
  answer(begin(request(1, 1)), 100, ['a-0']);
  assert.deepEqual(wantedOf(begin(request(1, 2))), ['a-1@0', 'a-2@0', 'a-0@0']);
});

test('an error is told each time, and its end once', () => {
  const { begin } = setUp();
  answer(begin(request(0, 0, { a: { 0: 0 } })), 100);
  for (const epoch of [1, 2]) {
    const context = begin(request(1, epoch));
    const [wanted] = context.wanted;
    assert.ok(wanted);
    assert.equal(context.answer([outcome(wanted, -1, 0, errorCodes.NOT_LEADER_OR_FOLLOWER)]).responses.length, 1);
  }
  assert.deepEqual(answer(begin(request(1, 3)), 100).partitions, ['a-0']);
  assert.deepEqual(answer(begin(request(1, 4)), 100).partitions, []);
});

for (const { name, fetch, version, expected } of [
  { name: 'an unknown session', fetch: request(77, 1), version: 12, expected: errorCodes.FETCH_SESSION_ID_NOT_FOUND },
  { name: 'an old epoch', fetch: request(1, 0x7fffffff), version: 12, expected: errorCodes.INVALID_FETCH_SESSION_EPOCH },
  { name: 'topic ids in a session of names', fetch: request(1, 1), version: 13, expected: errorCodes.FETCH_SESSION_TOPIC_ID_ERROR },
]) {
  test(`refused: ${name}`, () => {
    const { begin } = setUp();
    answer(begin(request(0, 0, { a: { 0: 0 } })), 100);
    const context = begin(fetch, version);
    assert.equal(context.errorCode, expected);
    assert.deepEqual(context.answer([]), { errorCode: expected, sessionId: 0, responses: [] });
  });
}

test('without a session nothing is kept, and the session that the last request names is closed', () => {
  const { begin, sessions } = setUp();
  answer(begin(request(0, 0, { a: { 0: 0 } })), 100);
  assert.equal(sessions.size, 1);
  assert.deepEqual(answer(begin(request(1, -1, { a: { 0: 0 } })), 100), { errorCode: 0, sessionId: 0, partitions: ['a-0'] });
  assert.equal(sessions.size, 0);
  assert.equal(sessions.cachedPartitions, 0);
});

test('a session from which everything was taken is closed', () => {
  const { begin, sessions } = setUp();
  answer(begin(request(0, 0, { a: { 0: 0 } })), 100);
  assert.deepEqual(answer(begin(request(1, 1, {}, { a: [0] })), 100), { errorCode: 0, sessionId: 0, partitions: [] });
  assert.equal(sessions.size, 0);
});

test('a request that was overtaken in its session is refused', () => {
  const { begin } = setUp();
  answer(begin(request(0, 0, { a: { 0: 0 } })), 100);
  const slow = begin(request(1, 1));
  begin(request(1, 2));
  assert.equal(answer(slow, 100).errorCode, errorCodes.INVALID_FETCH_SESSION_EPOCH);
});

test('a topic id that loses its topic is wanted without a name', () => {
  const { begin } = setUp();
  const id = 'AAAAAAAAAAAAAAAAAAAAAQ';
  const names: Record<string, string> = { [id]: 'a' };
  answer(begin(request(0, 0, { [id]: { 0: 0 } }, {}, true), 13, false, names), 100);
  assert.deepEqual(wantedOf(begin(request(1, 1), 13, false, names)), ['a-0@0']);
  assert.deepEqual(wantedOf(begin(request(1, 2), 13, false, {})), ['undefined-0@0']);
});

test('a full house gives no session, until one is stale or worth less', () => {
  const { begin, sessions, advance } = setUp(1);
  const open = (partitions: Record<number, number>, isFollower = false): number =>
    answer(begin(request(0, 0, { a: partitions }), 12, isFollower), 100).sessionId;
  const first = open({ 0: 0, 1: 0 });
  assert.notEqual(first, 0);
  assert.equal(open({ 0: 0, 1: 0, 2: 0 }), 0, 'a young session is safe from consumers');
  advance(120_001);
  answer(begin(request(first, 1)), 100);
  assert.equal(open({ 0: 0 }), 0, 'a smaller one does not displace a larger one in use');
  const larger = open({ 0: 0, 1: 0, 2: 0 });
  assert.notEqual(larger, 0);
  assert.notEqual(open({ 0: 0 }, true), 0, 'a follower displaces a consumer');
  advance(120_001);
  assert.notEqual(open({ 0: 0 }), 0, 'a stale session goes first');
  assert.equal(sessions.size, 1);
});

test('a follower that must cut off its log first is told the high watermark again', () => {
  const { begin } = setUp();
  const opened = begin(request(0, 0, { a: { 0: 9 } }), 12, true);
  const diverging = opened.wanted.map((wanted) => {
    const { data, ...rest } = outcome(wanted, 7);
    return { ...rest, data: { ...data, divergingEpoch: { epoch: 1, endOffset: 5 } } };
  });
  const { sessionId } = opened.answer(diverging);
  const next = begin(request(sessionId, 1, { a: { 0: 5 } }), 12, true);
  assert.equal(next.answer(next.wanted.map((wanted) => outcome(wanted, 7))).responses.length, 1);
  const last = begin(request(sessionId, 2), 12, true);
  assert.equal(last.answer(last.wanted.map((wanted) => outcome(wanted, 7))).responses.length, 0);
});
