import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zeroUuid } from '@odradek/protocol';
import { leftOverOf } from './left-over.ts';

const a = 'AAAAAAAAAAAAAAAAAAAAAQ';
const b = 'AAAAAAAAAAAAAAAAAAAAAg';

for (const { name, one, other, leftOver, isOfOtherTopic } of [
  { name: 'the one that is shorter', one: [a, 3, 10, 2], other: [a, 3, 12, 1], leftOver: 'one', isOfOtherTopic: false },
  {
    name: 'the one of an earlier leader, though it is longer',
    one: [a, 3, 10, 2],
    other: [a, 2, 12, 1],
    leftOver: 'other',
    isOfOtherTopic: false,
  },
  { name: 'the one without any leader', one: [a, undefined, 0, 2], other: [a, 0, 0, 1], leftOver: 'one', isOfOtherTopic: false },
  {
    name: 'the second of two that are the same',
    one: [a, 3, 10, 2],
    other: [a, 3, 10, 1],
    leftOver: 'other',
    isOfOtherTopic: false,
  },
  {
    name: 'the one of the topic that was made first',
    one: [a, 9, 100, 1],
    other: [b, 0, 1, 2],
    leftOver: 'one',
    isOfOtherTopic: true,
  },
  {
    name: 'the shorter one where a topic is not known',
    one: [zeroUuid, 3, 10, 1],
    other: [b, 3, 1, 2],
    leftOver: 'other',
    isOfOtherTopic: false,
  },
] as const) {
  test(`of two folders for a partition ${name} is left over`, () => {
    const [first, second] = [one, other].map(([topicId, latestEpoch, logEndOffset, createdMs]) => ({
      topicId,
      latestEpoch,
      logEndOffset,
      createdMs,
    }));
    const found = leftOverOf(first!, second!);
    assert.equal(found.log, leftOver === 'one' ? first : second);
    assert.equal(found.isOfOtherTopic, isOfOtherTopic);
  });
}
