import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SimulatedDisk } from '@odradek/testing';
import { LeaderEpochs } from './leader-epochs.ts';

function epochsOf(...entries: readonly (readonly [number, number])[]): LeaderEpochs {
  const epochs = new LeaderEpochs(new SimulatedDisk(), '/epochs', true);
  for (const [epoch, startOffset] of entries) epochs.assign(epoch, startOffset);
  return epochs;
}

const pairs = (epochs: LeaderEpochs): (readonly [number, number])[] =>
  epochs.entries.map(({ epoch, startOffset }) => [epoch, startOffset] as const);

describe('the end of an epoch', () => {
  const epochs = epochsOf([2, 10], [4, 20], [7, 30]);
  const cases: readonly (readonly [string, number, number, number])[] = [
    ['the latest ends with the log', 7, 7, 100],
    ['an earlier one ends where the next begins', 4, 4, 30],
    ['one that left nothing is answered by the one before it', 5, 4, 30],
    ['one before the first ends where the first begins', 1, 1, 10],
    ['one after the last is unknown', 8, -1, -1],
    ['no epoch is unknown', -1, -1, -1],
  ];
  for (const [what, asked, leaderEpoch, endOffset] of cases) {
    test(what, () => assert.deepEqual(epochs.endOffsetFor(asked, 100), { leaderEpoch, endOffset }));
  }
  test('nothing is known of an empty log', () =>
    assert.deepEqual(epochsOf().endOffsetFor(0, 0), { leaderEpoch: -1, endOffset: -1 }));
});

describe('an epoch is assigned', () => {
  const cases: readonly (readonly [string, [number, number][], [number, number], [number, number][]])[] = [
    ['the first', [], [0, 0], [[0, 0]]],
    [
      'a later one',
      [[0, 0]],
      [2, 5],
      [
        [0, 0],
        [2, 5],
      ],
    ],
    ['the same again', [[0, 0]], [0, 9], [[0, 0]]],
    [
      'where an epoch began that left no record',
      [
        [0, 0],
        [1, 5],
      ],
      [2, 5],
      [
        [0, 0],
        [2, 5],
      ],
    ],
    [
      'before one that was cut off',
      [
        [0, 0],
        [3, 9],
      ],
      [4, 7],
      [
        [0, 0],
        [4, 7],
      ],
    ],
    [
      'lower than one that was cut off',
      [
        [0, 0],
        [7, 9],
      ],
      [6, 9],
      [
        [0, 0],
        [6, 9],
      ],
    ],
    [
      'the same, but earlier',
      [
        [0, 0],
        [3, 9],
      ],
      [3, 7],
      [
        [0, 0],
        [3, 7],
      ],
    ],
  ];
  for (const [what, before, [epoch, startOffset], after] of cases) {
    test(what, () => {
      const epochs = epochsOf(...before);
      epochs.assign(epoch, startOffset);
      assert.deepEqual(pairs(epochs), after);
    });
  }
});

describe('the log becomes shorter', () => {
  const entries: [number, number][] = [
    [2, 10],
    [4, 20],
    [7, 30],
  ];
  test('at its end: what begins at or after it is forgotten', () => {
    for (const [end, left] of [
      [31, 3],
      [30, 2],
      [21, 2],
      [20, 1],
      [10, 0],
    ] as const) {
      const epochs = epochsOf(...entries);
      epochs.truncateFromEnd(end);
      assert.deepEqual(pairs(epochs), entries.slice(0, left), `end ${end}`);
    }
  });
  test('at its start: the epoch in which it lies begins there', () => {
    const cases: readonly (readonly [number, [number, number][]])[] = [
      [5, entries],
      [10, entries],
      [
        15,
        [
          [2, 15],
          [4, 20],
          [7, 30],
        ],
      ],
      [
        20,
        [
          [4, 20],
          [7, 30],
        ],
      ],
      [40, [[7, 40]]],
    ];
    for (const [start, left] of cases) {
      const epochs = epochsOf(...entries);
      epochs.truncateFromStart(start);
      assert.deepEqual(pairs(epochs), left, `start ${start}`);
    }
  });
});

test('the epoch of an offset is that of the last that began at or before it', () => {
  const epochs = epochsOf([2, 10], [4, 20]);
  assert.deepEqual(
    [9, 10, 19, 20, 99].map((offset) => epochs.epochAt(offset)),
    [undefined, 2, 2, 4, 4],
  );
});

test('the file has Kafka’s form, is read again, and is written only when it must', async () => {
  const disk = new SimulatedDisk();
  const epochs = new LeaderEpochs(disk, '/epochs', true);
  epochs.assign(0, 0);
  epochs.assign(3, 1042);
  await epochs.write();
  assert.equal(disk.readFileSync('/epochs').toString(), '0\n2\n0 0\n3 1042\n');
  assert.deepEqual(pairs(new LeaderEpochs(disk, '/epochs', false)), [
    [0, 0],
    [3, 1042],
  ]);
  disk.isReadOnly = true;
  await epochs.write();
  epochs.assign(4, 2000);
  await assert.rejects(epochs.write(), { code: 'EROFS' });
  disk.isReadOnly = false;
  await epochs.write();
  assert.deepEqual(pairs(new LeaderEpochs(disk, '/epochs', false)).at(-1), [4, 2000]);
});

test('a damaged file is not taken for epochs', () => {
  const disk = new SimulatedDisk();
  for (const text of ['1\n0\n', '0\n2\n0 0\n', '0\n1\nzero 0\n', '0\n1\n0 0 0\n']) {
    disk.replaceFileSync('/epochs', text);
    assert.throws(() => new LeaderEpochs(disk, '/epochs', false), /\/epochs/, JSON.stringify(text));
  }
});
