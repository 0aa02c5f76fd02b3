import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from '@odradek/runtime';
import { afterOutOfRange, type EpochEndAnswer, type FollowerLog, truncationFor } from './follower-truncation.ts';

/** A log by its epochs: `0@0 3@5 end 9`: from offset 5 on records of epoch 3, up to the end at 9. */
function logOf(text: string): FollowerLog & { readonly latestEpoch: number } {
  const [head = '', end = '0'] = text.split('end ');
  const entries = [...head.matchAll(/(\d+)@(\d+)/g)].map(([, epoch, start]) => ({ epoch: Number(epoch), start: Number(start) }));
  const logEndOffset = Number(end);
  return {
    logEndOffset,
    latestEpoch: entries.at(-1)?.epoch ?? -1,
    // As leader-epochs.ts has it: the largest epoch not above, and where the next begins.
    endOffsetForEpoch(epoch): EpochEndAnswer {
      const last = entries.at(-1);
      if (last === undefined || epoch < 0 || epoch > last.epoch) return { leaderEpoch: -1, endOffset: -1 };
      if (epoch === last.epoch) return { leaderEpoch: epoch, endOffset: logEndOffset };
      const next = entries.findIndex((entry) => entry.epoch > epoch);
      return { leaderEpoch: entries[next - 1]?.epoch ?? epoch, endOffset: entries[next]?.start ?? -1 };
    },
  };
}

for (const { name, follower, answer, highWatermark = 0, expected } of [
  {
    name: 'the epoch ends earlier at the leader',
    follower: '0@0 1@5 end 9',
    answer: { leaderEpoch: 1, endOffset: 7 },
    expected: { offset: 7, isComplete: true },
  },
  {
    name: 'the epoch ends later at the leader',
    follower: '0@0 1@5 end 9',
    answer: { leaderEpoch: 1, endOffset: 12 },
    expected: { offset: 9, isComplete: true },
  },
  {
    name: 'the leader has an earlier epoch, which the follower has too',
    follower: '0@0 1@5 end 9',
    answer: { leaderEpoch: 0, endOffset: 6 },
    expected: { offset: 5, isComplete: true },
  },
  {
    name: 'the leader has an earlier epoch, which the follower lacks: ask again from before it',
    follower: '0@0 3@5 end 9',
    answer: { leaderEpoch: 2, endOffset: 8 },
    expected: { offset: 5, isComplete: false },
  },
  {
    name: 'the leader knows nothing of epochs that far back: the high watermark',
    follower: '4@0 end 9',
    answer: { leaderEpoch: -1, endOffset: -1 },
    highWatermark: 3,
    expected: { offset: 3, isComplete: true },
  },
  {
    name: 'a leader before Kafka 2.0 tells no epoch',
    follower: '4@0 end 9',
    answer: { leaderEpoch: -1, endOffset: 6 },
    expected: { offset: 6, isComplete: true },
  },
  {
    name: 'the follower has kept no epochs',
    follower: 'end 9',
    answer: { leaderEpoch: 2, endOffset: 6 },
    expected: { offset: 6, isComplete: true },
  },
] as { name: string; follower: string; answer: EpochEndAnswer; highWatermark?: number; expected: unknown }[]) {
  test(`where to cut off: ${name}`, () => {
    assert.deepEqual(truncationFor(answer, logOf(follower), highWatermark), expected);
  });
}

test('asking again and again ends with what both logs have, and not a record less', () => {
  const random = new SeededRandom(5);
  for (let round = 0; round < 500; round++) {
    const [leader, follower] = divergedLogs(random);
    let common = 0;
    while (common < leader.length && common < follower.length && leader[common] === follower[common]) common += 1;
    // A leader has begun its reign, with or without a record.
    const answering = logOf(printed(leader));
    let own = [...follower];
    for (let question = 0; ; question++) {
      assert.ok(question < 20, 'it comes to an end');
      if (own.length === 0) break;
      const asking = logOf(printed(own));
      const { offset, isComplete } = truncationFor(answering.endOffsetForEpoch(asking.latestEpoch), asking, 0);
      own = own.slice(0, offset);
      if (isComplete) break;
    }
    assert.equal(own.length, common, `leader ${printed(leader)}, follower ${printed(follower)}`);
  }
});

/** The epoch of each record of two logs that were written in turns; at the end the first leads. */
function divergedLogs(random: SeededRandom): [number[], number[]] {
  const logs: [number[], number[]] = [[0], [0]];
  let epoch = 0;
  for (let reign = 0; reign < 6; reign++) {
    epoch += 1;
    const leader = logs[random.nextInt(2)]!;
    const other = leader === logs[0] ? logs[1] : logs[0];
    for (let count = random.nextInt(4); count > 0; count--) leader.push(epoch);
    // Sometimes the other one hears of it, and takes over all or a part.
    if (random.nextInt(3) === 0) other.splice(0, other.length, ...leader.slice(0, leader.length - random.nextInt(2)));
  }
  logs[0].push(epoch + 1);
  return logs;
}

function printed(epochs: readonly number[]): string {
  const starts = epochs.flatMap((epoch, offset) => (epochs[offset - 1] === epoch ? [] : [`${epoch}@${offset}`]));
  return `${starts.join(' ')} end ${epochs.length}`;
}

for (const { name, end, leaderEnd, leaderStart, expected } of [
  { name: 'the leader ends before', end: 9, leaderEnd: 5, leaderStart: 0, expected: { type: 'truncate', offset: 5 } },
  { name: 'the leader begins after', end: 9, leaderEnd: 30, leaderStart: 20, expected: { type: 'restart', offset: 20 } },
  { name: 'the leader has grown past it', end: 9, leaderEnd: 30, leaderStart: 0, expected: { type: 'goOn', offset: 9 } },
  { name: 'the leader begins just there', end: 9, leaderEnd: 9, leaderStart: 9, expected: { type: 'goOn', offset: 9 } },
]) {
  test(`an offset out of range: ${name}`, async () => {
    assert.deepEqual(await afterOutOfRange(end, leaderEnd, async () => leaderStart), expected);
  });
}
