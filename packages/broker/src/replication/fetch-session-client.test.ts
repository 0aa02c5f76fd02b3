import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecFor, errorCodes, FetchRequest, Reader, Writer } from '@odradek/protocol';
import { SeededRandom, systemClock } from '@odradek/runtime';
import { FetchSessionClient, type SessionPartition, type SessionRequest } from './fetch-session-client.ts';
import { FetchSessions } from './fetch-sessions.ts';

const ids = new Map([
  ['a', 'AAAAAAAAAAAAAAAAAAAAAQ'],
  ['b', 'AAAAAAAAAAAAAAAAAAAAAg'],
]);

function wanted(topic: string, partition: number, fetchOffset = 0, topicId = ids.get(topic) ?? ''): SessionPartition {
  return { topic, topicId, partition, fetchOffset, currentLeaderEpoch: 1, lastFetchedEpoch: 1, logStartOffset: 0, maxBytes: 100 };
}

/** A client that wants these. */
function wanting(...partitions: readonly SessionPartition[]): FetchSessionClient {
  const client = new FetchSessionClient();
  for (const partition of partitions) client.want(partition);
  return client;
}

function decoded(request: SessionRequest, version: number): FetchRequest {
  const writer = new Writer();
  codecFor(FetchRequest, version).write(writer, request);
  return codecFor(FetchRequest, version).read(new Reader(Buffer.concat(writer.chunks())));
}

for (const version of [12, 17]) {
  test(`whatever changes, the leader's part of the session is what is wanted (version ${version})`, () => {
    const random = new SeededRandom(version);
    const sessions = new FetchSessions({ slots: 10, evictionMs: 1000, clock: systemClock, random });
    const client = new FetchSessionClient();
    const current = new Map<string, SessionPartition>();
    let full = 0;
    for (let step = 0; step < 400; step++) {
      for (const topic of ids.keys()) {
        for (let partition = 0; partition < 3; partition++) {
          const key = `${topic}/${partition}`;
          const dice = random.nextInt(6);
          const known = current.get(key);
          if (dice === 0 && known !== undefined) {
            client.drop(known);
            current.delete(key);
          } else if (dice === 1) {
            const next = wanted(topic, partition, step);
            client.want(next);
            current.set(key, next);
            // What is wanted no longer cannot be dropped.
            if (known !== undefined) client.drop(known);
          }
        }
      }
      assert.equal(client.isEmpty, current.size === 0);
      if (current.size === 0) continue;
      const request = decoded(client.request(version), version);
      if (request.sessionEpoch === 0) full += 1;
      const context = sessions.begin(request, version, true, (id) => [...ids].find(([, each]) => each === id)?.[0]);
      assert.equal(context.errorCode, errorCodes.NONE);
      const seen = context.wanted.map(({ topic, partition, fetchOffset }) => `${topic}/${partition} ${fetchOffset}`);
      assert.deepEqual(seen.sort(), [...current].map(([key, { fetchOffset }]) => `${key} ${fetchOffset}`).sort());
      // Now and then no answer comes.
      if (random.nextInt(20) === 0) client.failed();
      else assert.ok(client.answered(context.answer([])));
    }
    assert.ok(full < 60, `${full} full requests: a session goes on as long as answers come`);
  });
}

test('a refusal begins a new session, which closes the old one where the leader still has it', () => {
  const client = wanting(wanted('a', 0));
  client.request(17);
  assert.ok(client.answered({ errorCode: 0, sessionId: 5 }));
  assert.deepEqual(epochOf(client.request(17)), [5, 1]);
  assert.ok(!client.answered({ errorCode: errorCodes.INVALID_FETCH_SESSION_EPOCH, sessionId: 0 }));
  assert.deepEqual(epochOf(client.request(17)), [5, 0]);
  assert.ok(client.answered({ errorCode: 0, sessionId: 6 }));
  client.request(17);
  assert.ok(!client.answered({ errorCode: errorCodes.FETCH_SESSION_ID_NOT_FOUND, sessionId: 0 }));
  assert.deepEqual(epochOf(client.request(17)), [0, 0]);
});

test('a leader that keeps no session is told everything each time', () => {
  const client = wanting(wanted('a', 0), wanted('b', 1));
  for (let round = 0; round < 2; round++) {
    const request = client.request(17);
    assert.deepEqual([...epochOf(request), request.topics.length], [0, 0, 2]);
    assert.ok(client.answered({ errorCode: 0, sessionId: 0 }));
  }
  assert.deepEqual(epochOf(client.request(6)), [0, -1]);
});

test('a topic that was made anew is another, and a session by names another than one by ids', () => {
  const old = wanted('a', 0);
  const client = wanting(old);
  client.request(17);
  client.answered({ errorCode: 0, sessionId: 5 });
  client.want(wanted('a', 0, 0, 'AAAAAAAAAAAAAAAAAAAACQ'));
  client.drop(old);
  const anew = client.request(17);
  assert.deepEqual(
    anew.topics.map(({ topicId }) => topicId),
    ['AAAAAAAAAAAAAAAAAAAACQ'],
  );
  assert.deepEqual(
    anew.forgottenTopicsData.map(({ topicId }) => topicId),
    [ids.get('a')],
  );
  assert.ok(client.asked({ topic: '', topicId: 'AAAAAAAAAAAAAAAAAAAACQ', partition: 0 }));
  assert.equal(client.asked({ topic: '', topicId: ids.get('a') ?? '', partition: 0 }), undefined);
  client.answered({ errorCode: 0, sessionId: 5 });
  assert.deepEqual(epochOf(client.request(12)), [5, 0]);
});

function epochOf({ sessionId, sessionEpoch }: SessionRequest): [number, number] {
  return [sessionId, sessionEpoch];
}
