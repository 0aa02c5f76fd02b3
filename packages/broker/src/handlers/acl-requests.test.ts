// CreateAcls, DescribeAcls and DeleteAcls through the bytes of all their versions.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  CreateAclsRequest,
  CreateAclsResponse,
  DeleteAclsRequest,
  DeleteAclsResponse,
  DescribeAclsRequest,
  DescribeAclsResponse,
  errorByCode,
  type MessageInit,
} from '@odradek/protocol';
import { InProcessBroker, type RawClient } from '@odradek/testing';

type Creation = NonNullable<MessageInit<typeof CreateAclsRequest>['creations']>[number];

const [topic, group, cluster] = [2, 3, 4] as const;
const [literal, prefixed] = [3, 4] as const;
const [read, write] = [3, 4] as const;
const [deny, allow] = [2, 3] as const;

const creation: Creation = {
  resourceType: topic,
  resourceName: 'orders',
  resourcePatternType: literal,
  principal: 'User:alice',
  host: '*',
  operation: read,
  permissionType: allow,
};
const anything = {
  resourceTypeFilter: 1,
  resourceNameFilter: null,
  principalFilter: null,
  hostFilter: null,
  operation: 1,
  permissionType: 1,
};

describe('access lists', () => {
  let broker: InProcessBroker;
  let client: RawClient;
  before(async () => {
    const authorizer = 'org.apache.kafka.metadata.authorizer.StandardAuthorizer';
    const properties = { 'authorizer.class.name': authorizer, 'super.users': 'User:root;User:ANONYMOUS' };
    broker = await InProcessBroker.start({ properties });
    client = await broker.client();
  });
  after(() => broker?.close());

  const create = async (version: number, ...creations: Creation[]): Promise<string[]> => {
    const { results } = await client.send(CreateAclsRequest, CreateAclsResponse, version, { creations });
    return results.map(
      ({ errorCode, errorMessage }) => `${errorByCode(errorCode).name}${errorMessage === null ? '' : `: ${errorMessage}`}`,
    );
  };
  const describeAcls = async (version: number, filter: MessageInit<typeof DescribeAclsRequest> = {}): Promise<string[]> => {
    const any = version >= 1 ? { patternTypeFilter: 1 } : {};
    const answer = await client.send(DescribeAclsRequest, DescribeAclsResponse, version, { ...anything, ...any, ...filter });
    assert.equal(answer.errorCode, 0);
    return answer.resources.flatMap(({ resourceType, resourceName, patternType, acls }) =>
      acls.map((acl) =>
        [resourceType, patternType, resourceName, acl.principal, acl.host, acl.operation, acl.permissionType].join(' '),
      ),
    );
  };
  const deleteAll = async (version = 3): Promise<number | undefined> => {
    const filters = [{ ...anything, ...(version >= 1 ? { patternTypeFilter: 1 } : {}) }];
    const { filterResults } = await client.send(DeleteAclsRequest, DeleteAclsResponse, version, { filters });
    return filterResults[0]?.matchingAcls.length;
  };

  for (const version of [0, 1, 2, 3]) {
    test(`version ${version}: created, described, deleted`, async () => {
      const { resourcePatternType: _, ...inVersion0 } = creation;
      const made = version === 0 ? inVersion0 : creation;
      assert.deepEqual(await create(version, made, { ...made, operation: write, permissionType: deny, host: '10.0.0.1' }), [
        'NONE',
        'NONE',
      ]);
      assert.deepEqual((await describeAcls(version)).sort(), ['2 3 orders User:alice * 3 3', '2 3 orders User:alice 10.0.0.1 4 2']);
      assert.equal(await deleteAll(version), 2);
      assert.deepEqual(await describeAcls(version), []);
    });
  }

  test('one that is there already is no error and is not there twice', async () => {
    assert.deepEqual(await create(3, creation, creation), ['NONE', 'NONE']);
    assert.deepEqual(await create(3, creation), ['NONE']);
    assert.equal(await deleteAll(), 1);
  });

  test('a client of version 0 sees and deletes literal patterns only', async () => {
    await create(3, creation, { ...creation, resourceName: 'ord', resourcePatternType: prefixed });
    assert.deepEqual(await describeAcls(0), ['2 3 orders User:alice * 3 3']);
    assert.equal(await deleteAll(0), 1);
    assert.deepEqual(await describeAcls(3), ['2 4 ord User:alice * 3 3']);
    assert.equal(await deleteAll(), 1);
  });

  test('what holds for a name is found by a filter that matches', async () => {
    await create(
      3,
      creation,
      { ...creation, resourceName: 'ord', resourcePatternType: prefixed },
      { ...creation, resourceName: '*' },
      { ...creation, resourceName: 'other' },
      { ...creation, resourceType: group },
    );
    const found = await describeAcls(3, { resourceTypeFilter: topic, resourceNameFilter: 'orders', patternTypeFilter: 2 });
    assert.deepEqual(found.sort(), ['2 3 * User:alice * 3 3', '2 3 orders User:alice * 3 3', '2 4 ord User:alice * 3 3']);
    assert.equal(await deleteAll(), 5);
  });

  const invalid: readonly (readonly [what: string, change: Partial<Creation>, message: RegExp])[] = [
    ['an unknown type of resource', { resourceType: 99 }, /resource type 99/],
    ['any type of resource', { resourceType: 1 }, /resource type 1/],
    ['any pattern', { resourcePatternType: 1 }, /pattern type 1/],
    ['a pattern that matches', { resourcePatternType: 2 }, /pattern type 2/],
    ['any operation', { operation: 1 }, /operation 1/],
    ['an unknown operation', { operation: 0 }, /operation 0/],
    ['any permission', { permissionType: 1 }, /permission type 1/],
    ['no name', { resourceName: '' }, /empty resource name/],
    ['an empty host', { host: '' }, /empty host/],
    ['a name that is a path', { resourceName: 'a/b' }, /resource name a\/b/],
    ['another cluster', { resourceType: cluster, resourceName: 'other' }, /kafka-cluster/],
    ['a principal without a type', { principal: 'alice' }, /no colon/],
  ];
  for (const [what, change, message] of invalid) {
    test(`cannot be made for ${what}, and others of the request are made all the same`, async () => {
      const [wrong, right] = await create(3, { ...creation, ...change } as Creation, creation);
      assert.match(wrong ?? '', /^INVALID_REQUEST: /);
      assert.match(wrong ?? '', message);
      assert.equal(right, 'NONE');
      assert.equal(await deleteAll(), 1);
    });
  }

  for (const [what, change] of [
    ['type', { resourceTypeFilter: 0 }],
    ['pattern', { patternTypeFilter: 9 }],
    ['operation', { operation: 0 }],
    ['permission', { permissionType: 9 }],
  ] as const) {
    test(`a filter with an unknown ${what} is refused`, async () => {
      const filter = { ...anything, patternTypeFilter: 1, ...change };
      const described = await client.send(DescribeAclsRequest, DescribeAclsResponse, 3, filter);
      const deleted = await client.send(DeleteAclsRequest, DeleteAclsResponse, 3, {
        filters: [filter, { ...anything, patternTypeFilter: 1 }],
      });
      assert.equal(errorByCode(described.errorCode).name, 'INVALID_REQUEST');
      assert.deepEqual(
        deleted.filterResults.map(({ errorCode }) => errorByCode(errorCode).name),
        ['INVALID_REQUEST', 'NONE'],
      );
    });
  }

  test('each entry is told with the first filter that finds it', async () => {
    await create(3, creation, { ...creation, operation: write });
    const filters = [
      { ...anything, patternTypeFilter: 1, operation: read },
      { ...anything, patternTypeFilter: 1 },
    ];
    const { filterResults } = await client.send(DeleteAclsRequest, DeleteAclsResponse, 3, { filters });
    assert.deepEqual(
      filterResults.map(({ matchingAcls }) => matchingAcls.map(({ operation }) => operation)),
      [[read], [write]],
    );
  });
});

test('without an authorizer security is disabled', async () => {
  const broker = await InProcessBroker.start();
  try {
    const client = await broker.client();
    const created = await client.send(CreateAclsRequest, CreateAclsResponse, 3, { creations: [creation] });
    const described = await client.send(DescribeAclsRequest, DescribeAclsResponse, 3, anything);
    const deleted = await client.send(DeleteAclsRequest, DeleteAclsResponse, 3, { filters: [anything] });
    const codes = [created.results[0]?.errorCode, described.errorCode, deleted.filterResults[0]?.errorCode];
    assert.deepEqual(
      codes.map((code) => errorByCode(code ?? 0).name),
      ['SECURITY_DISABLED', 'SECURITY_DISABLED', 'SECURITY_DISABLED'],
    );
  } finally {
    await broker.close();
  }
});
