import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zeroUuid } from '@odradek/protocol';
import { leftOverOf } from './left-over.ts';

const a = 'AAAAAAAAAAAAAAAAAAAAAQ';
const b = 'AAAAAAAAAAAAAAAAAAAAAg';

for (const { name, topics, created, starts = [0, 0], contained, leftOver, hasOwnRecords } of [
  {
    name: 'the one that the other contains',
    topics: [a, a],
    created: [2, 1],
    contained: ['one'],
    leftOver: 'one',
    hasOwnRecords: false,
  },
  {
    name: 'the second of two that are the same',
    topics: [a, a],
    created: [1, 2],
    contained: ['one', 'other'],
    leftOver: 'other',
    hasOwnRecords: false,
  },
  {
    name: 'of two that end alike the one that begins earlier',
    topics: [a, a],
    created: [2, 1],
    starts: [0, 5],
    contained: ['one', 'other'],
    leftOver: 'one',
    hasOwnRecords: false,
  },
  {
    name: 'the one that the other contains, also where that begins later',
    topics: [a, a],
    created: [1, 2],
    starts: [0, 5],
    contained: ['one'],
    leftOver: 'one',
    hasOwnRecords: false,
  },
  {
    name: 'the contained one where a topic is not known',
    topics: [zeroUuid, b],
    created: [2, 1],
    contained: ['one'],
    leftOver: 'one',
    hasOwnRecords: false,
  },
  {
    name: 'the one that was made first where each has records of its own',
    topics: [a, a],
    created: [1, 2],
    contained: [],
    leftOver: 'one',
    hasOwnRecords: true,
  },
  {
    name: 'the one of the topic that was made first',
    topics: [a, b],
    created: [2, 1],
    contained: ['one'],
    leftOver: 'other',
    hasOwnRecords: true,
  },
] as const) {
  test(`of two folders for a partition, ${name} is left over`, () => {
    const one = { name: 'one', topicId: topics[0], logStartOffset: starts[0], createdMs: created[0] };
    const other = { name: 'other', topicId: topics[1], logStartOffset: starts[1], createdMs: created[1] };
    const found = leftOverOf<typeof one | typeof other>(one, other, (log) => (contained as readonly string[]).includes(log.name));
    assert.deepEqual([found.log.name, found.hasOwnRecords], [leftOver, hasOwnRecords]);
  });
}
