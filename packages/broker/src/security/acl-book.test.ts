import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AclEntry, AclOperation, AclPattern } from './acl.ts';
import { matchesEntry, matchesPattern } from './acl.ts';
import { AclBook } from './acl-book.ts';

/** `Topic LITERAL orders: Allow User:alice 10.0.0.1 Read` */
function bookOf(...lines: readonly string[]): AclBook {
  const book = new AclBook();
  for (const line of lines) {
    const [resourceType, patternType, name, permissionType, principal, host, operation] = line.replace(':', '').split(' ');
    const pattern = { resourceType, patternType, name } as AclPattern;
    book.set(pattern, [...book.list(pattern), { permissionType, principal, host, operation } as AclEntry]);
  }
  return book;
}

const alice = { principal: 'User:alice', host: '10.0.0.1' };

const cases: readonly {
  readonly name: string;
  readonly lists: readonly string[];
  readonly operation: AclOperation;
  readonly topic?: string;
  readonly expected: boolean | undefined;
}[] = [
  { name: 'no list', lists: [], operation: 'READ', expected: undefined },
  {
    name: 'a list of another topic',
    lists: ['Topic LITERAL other: Allow User:alice * Read'],
    operation: 'READ',
    expected: undefined,
  },
  {
    name: 'a list of a group of that name',
    lists: ['Group LITERAL orders: Allow User:alice * Read'],
    operation: 'READ',
    expected: undefined,
  },
  { name: 'allowed by name', lists: ['Topic LITERAL orders: Allow User:alice * Read'], operation: 'READ', expected: true },
  { name: 'allowed to somebody else', lists: ['Topic LITERAL orders: Allow User:bob * Read'], operation: 'READ', expected: false },
  { name: 'allowed to everybody', lists: ['Topic LITERAL orders: Allow User:* * Read'], operation: 'READ', expected: true },
  {
    name: 'allowed from this host',
    lists: ['Topic LITERAL orders: Allow User:alice 10.0.0.1 Read'],
    operation: 'READ',
    expected: true,
  },
  {
    name: 'allowed from another host',
    lists: ['Topic LITERAL orders: Allow User:alice 10.0.0.2 Read'],
    operation: 'READ',
    expected: false,
  },
  { name: 'another operation', lists: ['Topic LITERAL orders: Allow User:alice * Write'], operation: 'READ', expected: false },
  { name: 'all operations', lists: ['Topic LITERAL orders: Allow User:alice * All'], operation: 'ALTER_CONFIGS', expected: true },
  { name: 'all topics', lists: ['Topic LITERAL *: Allow User:alice * Read'], operation: 'READ', expected: true },
  { name: 'a prefix', lists: ['Topic PREFIXED ord: Allow User:alice * Read'], operation: 'READ', expected: true },
  {
    name: 'a prefix that is the whole name',
    lists: ['Topic PREFIXED orders: Allow User:alice * Read'],
    operation: 'READ',
    expected: true,
  },
  {
    name: 'a prefix that is longer',
    lists: ['Topic PREFIXED orders-: Allow User:alice * Read'],
    operation: 'READ',
    expected: undefined,
  },
  { name: 'a prefix is no wildcard', lists: ['Topic PREFIXED *: Allow User:alice * Read'], operation: 'READ', expected: undefined },
  {
    name: 'denying outweighs allowing',
    lists: ['Topic LITERAL orders: Allow User:alice * Read', 'Topic LITERAL orders: Deny User:alice * Read'],
    operation: 'READ',
    expected: false,
  },
  {
    name: 'a prefix denies what the name allows',
    lists: ['Topic LITERAL orders: Allow User:alice * All', 'Topic PREFIXED o: Deny User:* * Read'],
    operation: 'READ',
    expected: false,
  },
  {
    name: 'denied from another host only',
    lists: ['Topic LITERAL orders: Allow User:alice * All', 'Topic LITERAL *: Deny User:* 10.0.0.2 All'],
    operation: 'READ',
    expected: true,
  },
  ...(['Read', 'Write', 'Delete', 'Alter'] as const).map((granted) => ({
    name: `who may ${granted} may describe`,
    lists: [`Topic LITERAL orders: Allow User:alice * ${granted}`],
    operation: 'DESCRIBE' as const,
    expected: true,
  })),
  {
    name: 'who may create may not describe',
    lists: ['Topic LITERAL orders: Allow User:alice * Create'],
    operation: 'DESCRIBE',
    expected: false,
  },
  {
    name: 'who may describe may not read',
    lists: ['Topic LITERAL orders: Allow User:alice * Describe'],
    operation: 'READ',
    expected: false,
  },
  {
    name: 'who may alter configs may describe them',
    lists: ['Topic LITERAL orders: Allow User:alice * AlterConfigs'],
    operation: 'DESCRIBE_CONFIGS',
    expected: true,
  },
  {
    name: 'who may alter may not describe configs',
    lists: ['Topic LITERAL orders: Allow User:alice * Alter'],
    operation: 'DESCRIBE_CONFIGS',
    expected: false,
  },
  {
    name: 'who is denied to read may still describe',
    lists: ['Topic LITERAL orders: Allow User:alice * All', 'Topic LITERAL orders: Deny User:alice * Read'],
    operation: 'DESCRIBE',
    expected: true,
  },
];

for (const { name, lists, operation, topic = 'orders', expected } of cases) {
  test(`permission: ${name}`, () => assert.equal(bookOf(...lists).permits(alice, operation, 'Topic', topic), expected));
}

const anyCases: readonly (readonly [name: string, lists: readonly string[], withoutList: boolean, expected: boolean])[] = [
  ['no lists', [], false, false],
  ['no lists, where those are not needed', [], true, true],
  ['some topic', ['Topic LITERAL a: Allow User:alice * Write'], false, true],
  ['some topic, not to write', ['Topic LITERAL a: Allow User:alice * Read'], false, false],
  ['some prefix', ['Topic PREFIXED a: Allow User:alice * All'], false, true],
  ['all topics denied', ['Topic LITERAL *: Deny User:* * All', 'Topic LITERAL a: Allow User:alice * Write'], true, false],
  ['that topic denied', ['Topic LITERAL a: Deny User:* * Write', 'Topic LITERAL a: Allow User:alice * Write'], false, false],
  ['its prefix denied', ['Topic PREFIXED a: Deny User:* * Write', 'Topic LITERAL ab: Allow User:alice * Write'], false, false],
  ['another prefix denied', ['Topic PREFIXED b: Deny User:* * Write', 'Topic LITERAL ab: Allow User:alice * Write'], false, true],
  [
    'the prefix of a prefix denied',
    ['Topic PREFIXED a: Deny User:* * Write', 'Topic PREFIXED ab: Allow User:alice * Write'],
    false,
    false,
  ],
  [
    'part of a prefix denied',
    ['Topic PREFIXED abc: Deny User:* * Write', 'Topic PREFIXED ab: Allow User:alice * Write'],
    false,
    true,
  ],
];

for (const [name, lists, withoutList, expected] of anyCases) {
  test(`permission for any topic: ${name}`, () => {
    assert.equal(bookOf(...lists).permitsAny(alice, 'WRITE', 'Topic', withoutList), expected);
  });
}

const anyFilter = {
  resourceTypeFilter: 1,
  resourceNameFilter: null,
  patternTypeFilter: 1,
  principalFilter: null,
  hostFilter: null,
  operation: 1,
  permissionType: 1,
};
const patterns: Record<string, AclPattern> = {
  literal: { resourceType: 'Topic', patternType: 'LITERAL', name: 'orders' },
  all: { resourceType: 'Topic', patternType: 'LITERAL', name: '*' },
  prefix: { resourceType: 'Topic', patternType: 'PREFIXED', name: 'ord' },
  group: { resourceType: 'Group', patternType: 'LITERAL', name: 'orders' },
};

const filterCases: readonly (readonly [
  name: string,
  filter: { readonly resourceTypeFilter?: number; readonly resourceNameFilter?: string; readonly patternTypeFilter?: number },
  found: readonly string[],
])[] = [
  ['anything', {}, ['literal', 'all', 'prefix', 'group']],
  ['topics', { resourceTypeFilter: 2 }, ['literal', 'all', 'prefix']],
  ['literal', { patternTypeFilter: 3 }, ['literal', 'all', 'group']],
  ['prefixed', { patternTypeFilter: 4 }, ['prefix']],
  ['a name', { resourceNameFilter: 'orders' }, ['literal', 'group']],
  ['a literal name', { resourceNameFilter: 'ord', patternTypeFilter: 3 }, []],
  ['a prefix by its name', { resourceNameFilter: 'ord', patternTypeFilter: 4 }, ['prefix']],
  ['the wildcard itself', { resourceNameFilter: '*', patternTypeFilter: 3 }, ['all']],
  ['what holds for a name', { resourceNameFilter: 'orders', patternTypeFilter: 2 }, ['literal', 'all', 'prefix', 'group']],
  ['what holds for another name', { resourceNameFilter: 'ord-2', patternTypeFilter: 2, resourceTypeFilter: 2 }, ['all', 'prefix']],
];

for (const [name, filter, found] of filterCases) {
  test(`patterns that a filter finds: ${name}`, () => {
    const names = Object.keys(patterns).filter((key) => matchesPattern({ ...anyFilter, ...filter }, patterns[key] as AclPattern));
    assert.deepEqual(names, found);
  });
}

test('an entry is found by what the filter names of it', () => {
  const entry: AclEntry = { principal: 'User:a', host: '*', operation: 'AlterConfigs', permissionType: 'Deny' };
  const finds = (filter: object): boolean => matchesEntry({ ...anyFilter, ...filter }, entry);
  assert.ok(finds({}) && finds({ principalFilter: 'User:a' }) && finds({ hostFilter: '*' }));
  assert.ok(finds({ operation: 11 }) && finds({ permissionType: 2 }));
  assert.ok(!finds({ principalFilter: 'User:b' }) && !finds({ hostFilter: '10.0.0.1' }));
  assert.ok(!finds({ operation: 2 }) && !finds({ permissionType: 3 }));
});
