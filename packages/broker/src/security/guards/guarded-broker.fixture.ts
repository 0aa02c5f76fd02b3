// A broker with an authorizer, where everybody may do everything but what a test denies.

import assert from 'node:assert/strict';
import * as p from '@odradek/protocol';
import { errorByCode, type Message, type MessageDefinition, type MessageInit } from '@odradek/protocol';
import { InProcessBroker, type RawClient, until } from '@odradek/testing';
import { createTopic } from '../../handlers/broker-requests.fixture.ts';
import { clusterName, operationNumbers } from '../acl.ts';

const types = { Topic: 2, Group: 3, Cluster: 4, TransactionalId: 5 } as const;
const properties = {
  'authorizer.class.name': 'kafka.security.authorizer.AclAuthorizer',
  'allow.everyone.if.no.acl.found': true,
  'offsets.topic.num.partitions': 1,
  'group.initial.rebalance.delay.ms': 0,
};

export class GuardedBroker {
  #broker: InProcessBroker | undefined;
  #client: RawClient | undefined;

  /** With a topic that is free to all, and groups that are served. */
  async start(): Promise<void> {
    this.#broker = await InProcessBroker.start({ properties });
    this.#client = await this.#broker.client();
    await createTopic(this.client, 'free');
    await until('groups are served', async () => {
      const exchange = [p.FindCoordinatorRequest, p.FindCoordinatorResponse] as const;
      await this.client.send(...exchange, 4, { keyType: 0, coordinatorKeys: ['free'] });
      const groups = [{ groupId: 'free', topics: null }];
      return errorsIn(await this.client.send(p.OffsetFetchRequest, p.OffsetFetchResponse, 8, { groups })).length === 0;
    });
  }

  async close(): Promise<void> {
    await this.#broker?.close();
  }

  get client(): RawClient {
    assert.ok(this.#client !== undefined);
    return this.#client;
  }

  newClient(): Promise<RawClient> {
    assert.ok(this.#broker !== undefined);
    return this.#broker.client();
  }

  /** Everything is allowed to everybody but this. */
  async deny(type: keyof typeof types, resourceName: string, operation: string): Promise<void> {
    const pattern = { resourceType: types[type], resourceName, resourcePatternType: 3, principal: 'User:ANONYMOUS', host: '*' };
    const { results } = await this.client.send(p.CreateAclsRequest, p.CreateAclsResponse, 3, {
      creations: [
        { ...pattern, operation: 2, permissionType: 3 },
        { ...pattern, operation: operationNumbers[operation] ?? -1, permissionType: 2 },
      ],
    });
    assert.deepEqual(
      results.map(({ errorCode }) => errorCode),
      [0, 0],
    );
  }

  /** What was denied on the cluster is allowed again. */
  async forgetCluster(): Promise<void> {
    const filter = {
      resourceTypeFilter: 4,
      resourceNameFilter: clusterName,
      patternTypeFilter: 3,
      operation: 1,
      permissionType: 1,
    };
    const filters = [{ ...filter, principalFilter: null, hostFilter: null }];
    const { filterResults } = await this.client.send(p.DeleteAclsRequest, p.DeleteAclsResponse, 3, { filters });
    assert.equal(filterResults[0]?.matchingAcls.length, 2);
  }

  /** A request to send when its test comes. */
  ask<Q extends MessageDefinition, A extends MessageDefinition>(
    request: Q,
    response: A,
    version: number,
    body: MessageInit<Q>,
  ): () => Promise<Message<A>> {
    return () => this.client.send(request, response, version, body);
  }
}

/** All error codes in an answer that are not NONE, by their names. */
export function errorsIn(answer: unknown): string[] {
  const found = new Set<string>();
  const look = (value: unknown, key: string): void => {
    if (typeof value === 'number' && /errorCode$/i.test(key) && value !== 0) found.add(errorByCode(value).name);
    else if (Array.isArray(value)) for (const item of value) look(item, key);
    else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
      for (const [name, item] of Object.entries(value)) look(item, name);
    }
  };
  look(answer, '');
  return [...found];
}

/** For DescribeConfigs and the two that alter configs. */
export const onResource = (resourceType: number, resourceName: string) => ({
  resources: [{ resourceType, resourceName, configs: [], configurationKeys: null }],
});
