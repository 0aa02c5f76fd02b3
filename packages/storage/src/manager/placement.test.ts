import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directoriesForNewLog } from './placement.ts';

const directories = [
  { path: '/a', isOnline: true },
  { path: '/b', isOnline: true },
  { path: '/off', isOnline: false },
  { path: '/c', isOnline: true },
];

for (const { name, counts, cordoned, expected } of [
  { name: 'as configured while none has a log', counts: [0, 0, 0, 0], cordoned: [], expected: '/a /b /c' },
  { name: 'the emptiest first', counts: [5, 3, 0, 4], cordoned: [], expected: '/b /c /a' },
  { name: 'equals as configured', counts: [2, 1, 0, 1], cordoned: [], expected: '/b /c /a' },
  { name: 'not where it is cordoned', counts: [5, 3, 0, 4], cordoned: ['/b'], expected: '/c /a' },
  { name: 'the first when all are cordoned', counts: [5, 3, 0, 4], cordoned: ['/a', '/b', '/c'], expected: '/a' },
  {
    name: 'not to one that is offline, though it is the only one not cordoned',
    counts: [1, 0, 0, 0],
    cordoned: ['/a', '/b', '/c'],
    expected: '/a',
  },
]) {
  test(`a new log goes ${name}`, () => {
    const logCounts = new Map(directories.map((directory, index) => [directory, counts[index] ?? 0]));
    const found = directoriesForNewLog(directories, logCounts, (path) => cordoned.includes(path));
    assert.equal(found.map(({ path }) => path).join(' '), expected);
  });
}
