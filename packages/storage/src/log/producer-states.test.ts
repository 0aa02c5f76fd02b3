import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildControlBatch, buildRecordBatch, errorByCode, ProtocolError, RecordBatch, sequenceAfter } from '@odradek/protocol';
import { decodeSnapshot, encodeSnapshot } from './producer-snapshot.ts';
import { type CompletedTransaction, ProducerStates } from './producer-states.ts';

interface Sent {
  readonly offset?: number;
  readonly count?: number;
  readonly producerId?: number;
  readonly epoch?: number;
  readonly isTransactional?: boolean;
  /** What the leader stamps it with. */
  readonly leaderEpoch?: number;
}

function data(sequence: number, sent: Sent = {}): RecordBatch {
  const { offset = 0, count = 1, producerId = 7, epoch = 0, isTransactional = false, leaderEpoch = 5 } = sent;
  const records = Array.from({ length: count }, () => ({ timestamp: 1000 + offset, value: Buffer.from('v') }));
  const options = { baseOffset: offset, producerId, producerEpoch: epoch, baseSequence: sequence, isTransactional };
  const batch = new RecordBatch(buildRecordBatch(options, records), 0);
  batch.setPartitionLeaderEpoch(leaderEpoch);
  return batch;
}

function marker(type: 'commit' | 'abort', sent: Sent = {}, coordinatorEpoch = 0): RecordBatch {
  const { offset = 0, producerId = 7, epoch = 0 } = sent;
  const options = { type, producerId, producerEpoch: epoch, coordinatorEpoch, timestamp: 1, baseOffset: offset };
  return new RecordBatch(buildControlBatch(options), 0);
}

const end = (
  states: ProducerStates,
  type: 'commit' | 'abort',
  sent: Sent,
  coordinatorEpoch = 0,
): CompletedTransaction | undefined =>
  states.appendMarker(marker(type, sent, coordinatorEpoch), { isCommit: type === 'commit', coordinatorEpoch });

function outcome(check: () => void): string {
  try {
    check();
    return 'NONE';
  } catch (error) {
    return error instanceof ProtocolError ? errorByCode(error.code).name : String(error);
  }
}

describe('the next batch of a producer', () => {
  const largest = 0x7fffffff;
  const cases: readonly (readonly [string, RecordBatch[], RecordBatch, string])[] = [
    ['a new producer may begin anywhere', [], data(5), 'NONE'],
    ['follows', [data(0, { count: 3 })], data(3), 'NONE'],
    ['leaves a gap', [data(0)], data(2), 'OUT_OF_ORDER_SEQUENCE_NUMBER'],
    ['comes again in part', [data(0, { count: 3 })], data(1), 'OUT_OF_ORDER_SEQUENCE_NUMBER'],
    ['follows the largest sequence', [data(largest)], data(0), 'NONE'],
    ['wraps within the batch before', [data(largest, { count: 2 })], data(1), 'NONE'],
    ['a new epoch begins at 0', [data(9)], data(0, { epoch: 1 }), 'NONE'],
    ['a new epoch begins elsewhere', [data(9)], data(10, { epoch: 1 }), 'OUT_OF_ORDER_SEQUENCE_NUMBER'],
    ['an old epoch', [data(0, { epoch: 2 })], data(1, { epoch: 1 }), 'INVALID_PRODUCER_EPOCH'],
    ['another producer', [data(0)], data(4, { producerId: 8 }), 'NONE'],
    ['outside of its open transaction', [data(0, { isTransactional: true })], data(1), 'INVALID_TXN_STATE'],
    ['within its open transaction', [data(0, { isTransactional: true })], data(1, { isTransactional: true }), 'NONE'],
  ];
  for (const [what, before, next, expected] of cases) {
    test(`${what}: ${expected}`, () => {
      const states = new ProducerStates();
      for (const batch of before) states.append(batch);
      assert.equal(
        outcome(() => states.check(next, true)),
        expected,
      );
    });
  }

  test('sequences of coordinators are not looked at', () => {
    const states = new ProducerStates();
    states.append(data(0));
    assert.equal(
      outcome(() => states.check(data(9), false)),
      'NONE',
    );
    assert.equal(
      outcome(() => states.check(data(9, { epoch: -1 }), false)),
      'INVALID_PRODUCER_EPOCH',
    );
  });

  test('after nothing but a marker an epoch begins at 0', () => {
    const states = new ProducerStates();
    end(states, 'commit', { epoch: 3 });
    assert.equal(
      outcome(() => states.check(data(0, { epoch: 3 }), true)),
      'NONE',
    );
    assert.equal(
      outcome(() => states.check(data(1, { epoch: 3 }), true)),
      'OUT_OF_ORDER_SEQUENCE_NUMBER',
    );
  });
});

describe('a batch that comes again', () => {
  function sevenBatches(): ProducerStates {
    const states = new ProducerStates();
    for (let index = 0; index < 7; index++) states.append(data(index * 2, { offset: 100 + index * 2, count: 2 }));
    return states;
  }

  test('is known among the last five, by first and last sequence', () => {
    const states = sevenBatches();
    for (let index = 2; index < 7; index++) {
      assert.equal(states.duplicateOf(data(index * 2, { count: 2 }))?.lastOffset, 101 + index * 2);
    }
    assert.equal(states.duplicateOf(data(2, { count: 2 })), undefined);
    assert.equal(states.duplicateOf(data(12, { count: 1 })), undefined);
    assert.equal(states.duplicateOf(data(12, { count: 2, epoch: 1 })), undefined);
    assert.equal(states.duplicateOf(data(12, { count: 2, producerId: 8 })), undefined);
  });

  test('is known when its sequences wrap', () => {
    const states = new ProducerStates();
    states.append(data(0x7ffffffe, { offset: 3, count: 4 }));
    assert.equal(states.duplicateOf(data(0x7ffffffe, { count: 4 }))?.lastOffset, 6);
  });

  test('a new epoch forgets the batches of the old', () => {
    const states = sevenBatches();
    states.append(data(0, { epoch: 1, offset: 200 }));
    assert.equal(states.duplicateOf(data(12, { count: 2 })), undefined);
    assert.equal(states.duplicateOf(data(0, { epoch: 1 }))?.lastOffset, 200);
  });
});

describe('a batch that comes again late', () => {
  /** Ten of two records each: of a leader in epoch 3 the first four, of one in epoch 4 the others. */
  function tenBatches(first = 0): ProducerStates {
    const states = new ProducerStates();
    for (let index = 0; index < 10; index++) {
      const sent = { offset: 100 + index * 2, count: 2, leaderEpoch: index < 4 ? 3 : 4 };
      states.append(data(sequenceAfter(first, index * 2), sent));
    }
    return states;
  }
  const again = (sequence: number, sent: Sent = {}): RecordBatch => data(sequence, { count: 2, ...sent });

  test('is known to lie before those that are remembered, when an earlier leader has appended it', () => {
    const states = tenBatches();
    for (const sequence of [0, 2, 6]) {
      assert.equal(states.duplicateOf(again(sequence)), undefined);
      assert.equal(states.forgottenBefore(again(sequence, { leaderEpoch: 4 }))?.lastOffset, 111);
    }
    assert.notEqual(states.forgottenBefore(again(8)), undefined, 'a new leader has appended nothing yet');
    assert.notEqual(states.forgottenBefore(again(1, { count: 4 })), undefined, 'however it is cut');
  });

  for (const [what, batch] of [
    ['has been appended by this leader', again(8, { leaderEpoch: 4 })],
    ['is remembered', again(10)],
    ['reaches into what is remembered', again(9)],
    ['is in the middle of what is remembered', again(13, { count: 1 })],
    ['follows', again(20)],
    ['leaves a gap', again(22)],
    ['is of another epoch', again(2, { epoch: 1 })],
    ['is of another producer', again(2, { producerId: 8 })],
    ['has more than is known of it', again(0x7fffffff, { count: 3 })],
  ] as const) {
    test(`is another matter when it ${what}`, () => assert.equal(tenBatches().forgottenBefore(batch), undefined));
  }

  test('is known when the sequences go round', () => {
    const states = tenBatches(0x7ffffffd);
    assert.notEqual(states.forgottenBefore(again(0x7ffffffd)), undefined);
    assert.notEqual(states.forgottenBefore(again(1)), undefined);
    assert.equal(states.forgottenBefore(again(0x7ffffffc, { count: 1 })), undefined);
  });

  test('is not known where the log has seen only a later part of its epoch', () => {
    const states = tenBatches(40);
    assert.equal(states.forgottenBefore(again(38)), undefined);
    assert.notEqual(states.forgottenBefore(again(40)), undefined);
    const afterGap = tenBatches();
    for (let index = 0; index < 10; index++) afterGap.append(data(100 + index, { offset: 200 + index, leaderEpoch: 4 }));
    assert.equal(afterGap.forgottenBefore(again(4)), undefined, 'a leader that knew nothing of it let it begin anywhere');
    assert.notEqual(afterGap.forgottenBefore(again(101)), undefined);
  });

  test('is not taken for known while the gap lies between those that are remembered', () => {
    const states = tenBatches();
    states.append(data(100, { offset: 200, count: 2, leaderEpoch: 4 }));
    for (const sequence of [0, 16, 30, 98, 102, 104, 500]) {
      assert.equal(states.forgottenBefore(again(sequence, { leaderEpoch: 5 })), undefined, `${sequence}`);
    }
    states.check(again(102, { leaderEpoch: 5 }), true);
  });

  test('is not known after a snapshot, which has only the last of each', () => {
    const states = new ProducerStates();
    states.restore(decodeSnapshot(encodeSnapshot(tenBatches().states()), 'file'), 0, 1000);
    for (let index = 0; index < 6; index++) states.append(data(20 + index, { offset: 120 + index, leaderEpoch: 4 }));
    assert.equal(states.forgottenBefore(again(16, { leaderEpoch: 4 })), undefined);
    assert.notEqual(states.forgottenBefore(again(18, { leaderEpoch: 4 })), undefined);
  });
});

describe('a marker', () => {
  test('of an older coordinator or an older producer epoch is refused', () => {
    const states = new ProducerStates();
    end(states, 'commit', { epoch: 2 }, 5);
    assert.equal(
      outcome(() => states.checkMarker(marker('abort', { epoch: 2 }), 5)),
      'NONE',
    );
    assert.equal(
      outcome(() => states.checkMarker(marker('abort', { epoch: 2 }), 4)),
      'TRANSACTION_COORDINATOR_FENCED',
    );
    assert.equal(
      outcome(() => states.checkMarker(marker('abort', { epoch: 1 }), 5)),
      'INVALID_PRODUCER_EPOCH',
    );
  });

  test('ends what was open, and nothing where nothing was', () => {
    const states = new ProducerStates();
    assert.equal(end(states, 'abort', { offset: 4 }), undefined);
    states.append(data(0, { offset: 5, isTransactional: true }));
    states.append(data(1, { offset: 6, isTransactional: true }));
    assert.deepEqual(end(states, 'abort', { offset: 7 }), { producerId: 7, firstOffset: 5, lastOffset: 7, isAborted: true });
    assert.equal(end(states, 'abort', { offset: 8 }), undefined);
  });

  test('with a newer epoch, as transactions of version 2 end, begins that epoch', () => {
    const states = new ProducerStates();
    states.append(data(0, { isTransactional: true }));
    end(states, 'commit', { epoch: 1, offset: 1 });
    assert.deepEqual(states.active()[0], {
      producerId: 7,
      producerEpoch: 1,
      lastSequence: -1,
      lastTimestamp: 1,
      coordinatorEpoch: 0,
      currentTxnStartOffset: -1,
    });
  });
});

test('readers of the last stable offset wait for the oldest transaction, also while its end is not replicated', () => {
  const states = new ProducerStates();
  assert.equal(states.firstUnstableOffset(), undefined);
  states.append(data(0, { offset: 10, producerId: 1, isTransactional: true }));
  states.append(data(0, { offset: 11, producerId: 2, isTransactional: true }));
  assert.equal(states.firstUnstableOffset(), 10);
  const completed = end(states, 'commit', { offset: 12, producerId: 1 })!;
  assert.equal(states.lastStableOffsetAfter(completed), 11);
  assert.equal(states.firstUnstableOffset(), 10, 'the commit is not yet replicated');
  states.highWatermarkMoved(12);
  assert.equal(states.firstUnstableOffset(), 10);
  states.highWatermarkMoved(13);
  assert.equal(states.firstUnstableOffset(), 11);
  const last = end(states, 'abort', { offset: 13, producerId: 2 })!;
  assert.equal(states.lastStableOffsetAfter(last), 14);
  states.highWatermarkMoved(14);
  assert.equal(states.firstUnstableOffset(), undefined);
});

test('producers are forgotten after a while, unless a transaction of theirs is open', () => {
  const states = new ProducerStates();
  states.append(data(0, { offset: 0, producerId: 1 }));
  states.append(data(0, { offset: 500, producerId: 2 }));
  states.append(data(0, { offset: 0, producerId: 3, isTransactional: true }));
  states.removeExpired(1700, 500);
  assert.deepEqual(
    states.active().map(({ producerId }) => producerId),
    [2, 3],
  );
});
