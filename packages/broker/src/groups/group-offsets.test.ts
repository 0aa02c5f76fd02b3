import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeMessage, encodeToBuffer, type Message, OffsetCommitValue, zeroUuid } from '@odradek/protocol';
import { GroupOffsets } from './group-offsets.ts';

const noTransaction = -1;

/** A value as it comes out of the log. */
function value(
  offset: number,
  fields: Partial<Message<typeof OffsetCommitValue>> = {},
  version = 3,
): Message<typeof OffsetCommitValue> {
  const commit = { offset, metadata: `at ${offset}`, commitTimestamp: 1000 + offset, ...fields };
  return decodeMessage(OffsetCommitValue, version, encodeToBuffer(OffsetCommitValue, version, commit));
}

/** Commits in the order in which they stand in the log. */
class Log {
  readonly offsets = new GroupOffsets();
  #nextOffset = 0;

  commit(group: string, partition: number, offset: number | null, producerId = noTransaction): this {
    const key = { group, topic: 'topic', partition };
    this.offsets.replay(key, offset === null ? null : value(offset), this.#nextOffset++, producerId);
    return this;
  }

  end(producerId: number, isCommitted: boolean): this {
    this.#nextOffset += 1;
    this.offsets.endTransaction(producerId, isCommitted);
    return this;
  }

  /** `partition: offset`, with `?` where a transaction may change it. */
  all(group: string): string[] {
    return [...this.offsets.partitionsOf(group)].map(({ topic, partition }) => {
      const committed = this.offsets.get(group, topic, partition)?.offset ?? 'nothing';
      return `${partition}: ${committed}${this.offsets.hasPending(group, topic, partition) ? ' ?' : ''}`;
    });
  }
}

describe('offsets outside of transactions', () => {
  test('the last commit for a partition counts, group by group', () => {
    const log = new Log().commit('g', 0, 5).commit('g', 1, 7).commit('h', 0, 9).commit('g', 0, 4);
    assert.deepEqual(log.all('g'), ['0: 4', '1: 7']);
    assert.deepEqual(log.all('h'), ['0: 9']);
    assert.equal(log.offsets.count, 3);
    assert.deepEqual([...log.offsets.groupIds()], ['g', 'h']);
  });

  test('a tombstone takes the offset away, and with the last one all that was known of the group', () => {
    const log = new Log().commit('g', 0, 5).commit('g', 1, 7).commit('g', 0, null).commit('g', 8, null).commit('none', 0, null);
    assert.deepEqual(log.all('g'), ['1: 7']);
    assert.equal(log.offsets.count, 1);
    log.commit('g', 1, null);
    assert.deepEqual(
      [log.all('g'), [...log.offsets.groupIds()], [...log.offsets.allGroupIds()], log.offsets.count],
      [[], [], [], 0],
    );
  });

  const topicId = 'gDgJJoRPTB6EtlLf-p62NQ';
  for (const { version, fields, expected } of [
    { version: 0, fields: {}, expected: { leaderEpoch: -1, expireTimestampMs: null, topicId: zeroUuid } },
    { version: 1, fields: { expireTimestamp: 99 }, expected: { leaderEpoch: -1, expireTimestampMs: 99, topicId: zeroUuid } },
    { version: 1, fields: {}, expected: { leaderEpoch: -1, expireTimestampMs: null, topicId: zeroUuid } },
    { version: 3, fields: { leaderEpoch: 6 }, expected: { leaderEpoch: 6, expireTimestampMs: null, topicId: zeroUuid } },
    { version: 4, fields: { leaderEpoch: 6, topicId }, expected: { leaderEpoch: 6, expireTimestampMs: null, topicId } },
  ] as const) {
    test(`version ${version} of the value with ${Object.keys(fields).join(' and ') || 'nothing more'} is understood`, () => {
      const offsets = new GroupOffsets();
      offsets.replay({ group: 'g', topic: 'topic', partition: 0 }, value(5, fields, version), 12, noTransaction);
      const rest = { offset: 5, metadata: 'at 5', commitTimestampMs: 1005, recordOffset: 12 };
      assert.deepEqual(offsets.get('g', 'topic', 0), { ...rest, ...expected });
    });
  }
});

describe('offsets in transactions', () => {
  test('are pending until the marker comes, while what was committed before still counts', () => {
    const log = new Log().commit('g', 0, 5).commit('g', 0, 6, 77).commit('g', 1, 8, 77);
    assert.deepEqual(log.all('g'), ['0: 5 ?', '1: nothing ?']);
    assert.deepEqual([...log.offsets.partitionsOfTopic('g', 'topic')], [0, 1]);
    assert.deepEqual([...log.offsets.partitionsOfTopic('g', 'other')], []);
    assert.equal(log.offsets.hasPendingOfGroup('g'), true);
    assert.deepEqual(log.end(77, true).all('g'), ['0: 6', '1: 8']);
    assert.equal(log.offsets.hasPendingOfGroup('g'), false);
  });

  test('never were when the transaction is aborted', () => {
    const log = new Log().commit('g', 0, 5).commit('g', 0, 6, 77).commit('h', 0, 1, 77).end(77, false);
    assert.deepEqual([log.all('g'), log.all('h')], [['0: 5'], []]);
    assert.deepEqual([...log.offsets.allGroupIds()], ['g']);
  });

  test('a plain commit that came later than that of the transaction stays', () => {
    assert.deepEqual(new Log().commit('g', 0, 6, 77).commit('g', 0, 9).end(77, true).all('g'), ['0: 9']);
  });

  test('of two transactions the one whose record came later counts, whichever ends first', () => {
    const begun = (): Log => new Log().commit('g', 0, 1, 77).commit('g', 0, 2, 78);
    assert.deepEqual(begun().end(77, true).end(78, true).all('g'), ['0: 2']);
    assert.deepEqual(begun().end(78, true).end(77, true).all('g'), ['0: 2']);
    assert.deepEqual(begun().end(78, false).end(77, true).all('g'), ['0: 1']);
    assert.deepEqual(begun().end(77, true).all('g'), ['0: 1 ?']);
  });

  test('the last one of a transaction counts, and the next transaction of the producer begins with none', () => {
    const log = new Log().commit('g', 0, 1, 77).commit('g', 0, 2, 77).end(77, true).commit('g', 1, 3, 77).end(77, false);
    assert.deepEqual(log.all('g'), ['0: 2']);
  });

  test('a marker for a transaction without offsets changes nothing', () => {
    assert.deepEqual(new Log().commit('g', 0, 5).end(99, true).end(99, false).all('g'), ['0: 5']);
  });

  test('what was forgotten meanwhile does not come back', () => {
    const log = new Log().commit('g', 0, 5).commit('g', 0, 6, 77).commit('g', 1, 7, 77).commit('g', 0, null);
    assert.deepEqual(log.all('g'), ['1: nothing ?']);
    assert.deepEqual(log.end(77, true).all('g'), ['1: 7']);
  });

  test('a group is pending as long as one of its transactions is open', () => {
    const log = new Log().commit('g', 0, 1, 77).commit('g', 1, 2, 78).commit('h', 0, 3, 78).end(78, true);
    assert.deepEqual([log.offsets.hasPendingOfGroup('g'), log.offsets.hasPendingOfGroup('h')], [true, false]);
    assert.deepEqual(log.all('g').sort(), ['0: nothing ?', '1: 2']);
  });
});
