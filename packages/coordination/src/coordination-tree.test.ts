import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { goldenDirectory } from '@odradek/testing';
import { aclChangeNode, aclNode, aclPaths } from './acl-nodes.ts';
import * as tree from './coordination-tree.ts';
import { InvalidNodeError, inPropertiesOrder } from './node-json.ts';

interface Znode {
  readonly path: string;
  readonly data: string | null;
}

/** What Apache Kafka 3.9 had in ZooKeeper at each of 18 moments. */
function goldenNodes(directory: string): Znode[] {
  const folder = join(directory, 'zookeeper');
  return readdirSync(folder)
    .filter((name) => /^\d\d-.*\.json$/.test(name))
    .flatMap((name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { znodes: Znode[] }).znodes);
}

/** Reads the node's data and writes it again; undefined: no rule knows the path. */
const rules: { readonly pattern: RegExp; readonly recode: (data: Buffer, ...parts: string[]) => Buffer }[] = [
  {
    pattern: /^\/brokers\/ids\/(\d+)$/,
    recode: (data, id) => tree.brokerIdNode.encode(tree.brokerIdNode.decode(Number(id), data)),
  },
  {
    pattern: /^\/brokers\/topics\/([^/]+)$/,
    recode: (data, topic = '') => tree.topicNode.encode(tree.topicNode.decode(topic, data)),
  },
  {
    pattern: /^\/brokers\/topics\/(.+)\/state$/,
    recode: (data, what = '') => tree.partitionStateNode.encode(tree.partitionStateNode.decode(what, data)),
  },
  { pattern: /^\/controller$/, recode: (data) => tree.controllerNode.encode(tree.controllerNode.decode(data)) },
  { pattern: /^\/controller_epoch$/, recode: (data) => tree.controllerEpochNode.encode(tree.controllerEpochNode.decode(data)) },
  { pattern: /^\/cluster\/id$/, recode: (data) => tree.clusterIdNode.encode(tree.clusterIdNode.decode(data)) },
  { pattern: /^\/feature$/, recode: (data) => tree.featureNode.encode(tree.featureNode.decode(data)) },
  {
    pattern: /^\/latest_producer_id_block$/,
    recode: (data) => tree.producerIdBlockNode.encode(tree.producerIdBlockNode.decode(data) ?? assert.fail('no block')),
  },
  {
    pattern: /^\/config\/changes\/config_change_\d{10}$/,
    recode: (data) => tree.configChangeNode.encode(tree.configChangeNode.decode(data)),
  },
  {
    pattern: /^\/config\/(?!changes)(.+)$/,
    recode: (data, what = '') => tree.configNode.encode(tree.configNode.decode(what, data)),
  },
  {
    pattern: /^\/kafka-acl-changes\/acl_changes_\d{10}$/,
    recode: (data) => aclChangeNode.encode(aclChangeNode.decode('LITERAL', data)),
  },
  {
    pattern: /^\/kafka-acl-extended-changes\/acl_changes_\d{10}$/,
    recode: (data) => aclChangeNode.encode(aclChangeNode.decode('PREFIXED', data)),
  },
  { pattern: /^\/kafka-acl(-extended)?\/.+$/, recode: (data) => aclNode.encode(aclNode.decode(data)) },
];

describe('the coordination tree', () => {
  const directory = goldenDirectory();

  it('reads and writes every node as Apache Kafka wrote it', { skip: directory === undefined && 'no golden facts' }, () => {
    const seen = new Set<string>();
    for (const { path, data } of goldenNodes(directory ?? '')) {
      // The root's empty data is ZooKeeper's own.
      if (data === null || path.startsWith('/zookeeper') || path === '/') continue;
      const rule = rules.find(({ pattern }) => pattern.test(path)) ?? assert.fail(`no rule for ${path}`);
      const [, ...parts] = rule.pattern.exec(path) ?? [];
      assert.equal(rule.recode(Buffer.from(data), ...parts).toString(), data, path);
      seen.add(rule.pattern.source);
    }
    assert.equal(seen.size, rules.length, 'each rule was used');
  });

  it('names the folders that Kafka creates', { skip: directory === undefined && 'no golden facts' }, () => {
    const paths = new Set(goldenNodes(directory ?? '').map(({ path }) => path));
    for (const path of [...tree.persistentPaths, ...aclPaths]) assert.ok(paths.has(path), path);
  });

  it('reads registrations of old brokers', () => {
    const registration = (json: unknown) => tree.brokerIdNode.decode(1, Buffer.from(JSON.stringify(json)));
    const v1 = registration({ version: 1, host: 'h', port: 9092, jmx_port: 9999, timestamp: '12' });
    assert.deepEqual(v1.endpoints, [{ listener: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: 'h', port: 9092 }]);
    assert.equal(v1.jmxPort, 9999);
    const v3 = registration({
      version: 3,
      endpoints: ['SSL://[::1]:9093'],
      host: null,
      port: -1,
      jmx_port: -1,
      timestamp: '12',
      rack: 'r',
    });
    assert.deepEqual(v3.endpoints, [{ listener: 'SSL', securityProtocol: 'SSL', host: '::1', port: 9093 }]);
    assert.equal(v3.rack, 'r');
  });

  it('writes endpoints, rack and features of a registration', () => {
    const registration: tree.BrokerRegistration = {
      id: 3,
      endpoints: [
        { listener: 'INTERNAL', securityProtocol: 'SSL', host: 'fe80::1', port: 9093 },
        { listener: 'EXTERNAL', securityProtocol: 'PLAINTEXT', host: 'b3', port: 9092 },
      ],
      rack: null,
      jmxPort: -1,
      timestamp: 5,
      features: new Map([['f', { minVersion: 1, maxVersion: 2 }]]),
    };
    const data = tree.brokerIdNode.encode(registration);
    assert.equal(
      data.toString(),
      '{"features":{"f":{"min_version":1,"max_version":2}},"listener_security_protocol_map":{"INTERNAL":"SSL","EXTERNAL":"PLAINTEXT"},' +
        '"endpoints":["INTERNAL://[fe80::1]:9093","EXTERNAL://b3:9092"],"jmx_port":-1,"port":9092,"host":"b3","version":5,"timestamp":"5"}',
    );
    assert.deepEqual(tree.brokerIdNode.decode(3, data), registration);
  });

  it('reads topics from before they had ids', () => {
    const topic = tree.topicNode.decode('t', Buffer.from('{"version":1,"partitions":{"1":[2],"0":[1]}}'));
    assert.deepEqual(topic, {
      topicId: undefined,
      replicas: new Map([
        [0, [1]],
        [1, [2]],
      ]),
      addingReplicas: new Map(),
      removingReplicas: new Map(),
    });
    assert.equal(
      tree.topicNode.encode(topic).toString(),
      '{"partitions":{"0":[1],"1":[2]},"adding_replicas":{},"removing_replicas":{},"version":2}',
    );
  });

  it('reads config changes of the first version', () => {
    assert.equal(tree.configChangeNode.decode(Buffer.from('{"version":1,"entity_type":"topics","entity_name":"t"}')), 'topics/t');
  });

  it('writes and reads partitions in elections, reassignments and notifications', () => {
    const partitions = [{ topic: 't', partition: 1, replicas: [3, 1] }];
    assert.deepEqual(tree.reassignPartitionsNode.decode(tree.reassignPartitionsNode.encode(partitions)), partitions);
    for (const node of [tree.preferredReplicaElectionNode, tree.isrChangeNode]) {
      assert.equal(node.encode(partitions).toString(), '{"version":1,"partitions":[{"topic":"t","partition":1}]}');
      assert.deepEqual(node.decode(node.encode(partitions)), [{ topic: 't', partition: 1 }]);
    }
    assert.equal(tree.logDirEventNode.encode(2).toString(), '{"version":1,"broker":2,"event":1}');
    assert.equal(tree.logDirEventNode.decode(tree.logDirEventNode.encode(2)), 2);
  });

  it('puts configs in the order of a Java hash table that grows', () => {
    const names = Array.from({ length: 13 }, (_, i) => `key.${String.fromCharCode(97 + i)}`);
    const ordered = Object.keys(inPropertiesOrder(new Map(names.map((name) => [name, '']))));
    assert.deepEqual([...ordered].sort(), names);
    assert.equal(ordered.length, 13);
  });

  it('percent-encodes names as Kafka does', () => {
    for (const [name, sanitized] of [
      ['bob@EX/x', 'bob%40EX%2Fx'],
      ['app 1', 'app%201'],
      ['a*b~c', 'a%2Ab%7Ec'],
      ['ü', '%C3%BC'],
    ] as const) {
      assert.equal(tree.sanitizeName(name), sanitized);
      assert.equal(tree.desanitizeName(sanitized), name);
    }
  });

  const malformed: { readonly name: string; readonly decode: (data: Buffer | null) => unknown; readonly data: string | null }[] = [
    { name: 'no data', decode: (data) => tree.topicNode.decode('t', data), data: null },
    { name: 'no JSON', decode: (data) => tree.topicNode.decode('t', data), data: '{' },
    { name: 'an array', decode: (data) => tree.topicNode.decode('t', data), data: '[]' },
    { name: 'a partition that is no number', decode: (data) => tree.topicNode.decode('t', data), data: '{"partitions":{"x":[1]}}' },
    { name: 'a replica that is no number', decode: (data) => tree.topicNode.decode('t', data), data: '{"partitions":{"0":["1"]}}' },
    {
      name: 'an endpoint without a port',
      decode: (data) => tree.brokerIdNode.decode(0, data),
      data: '{"version":5,"endpoints":["PLAINTEXT://h"]}',
    },
    {
      name: 'a config that is no text',
      decode: (data) => tree.configNode.decode('t', data),
      data: '{"version":1,"config":{"a":1}}',
    },
    { name: 'an unknown resource type', decode: (data) => aclChangeNode.decode('LITERAL', data), data: 'PLANET:earth' },
  ];
  for (const { name, decode, data } of malformed) {
    it(`refuses ${name}`, () => {
      assert.throws(() => decode(data === null ? null : Buffer.from(data)), InvalidNodeError);
    });
  }
});
