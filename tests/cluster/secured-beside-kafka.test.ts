// Apache Kafka 3.9 and Odradek beside each other on a ZooKeeper where both protect what they write (zookeeper.set.acl) and have an
// authorizer: the same nodes are given to the same names, and the same people are refused in the same order.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Coordination, controllerNode, ZooKeeperStore } from '@odradek/coordination';
import * as p from '@odradek/protocol';
import { createLogger, createSystemWorld } from '@odradek/runtime';
import {
  apacheKafka39,
  type KafkaBroker,
  needed,
  type OdradekProcess,
  quickJava,
  RawClient,
  readAccessLists,
  skipWithout,
  startKafkaBroker,
  startOdradekProcess,
  startZooKeeper,
  superuserArgument,
  until,
  type ZooKeeperEnsemble,
} from '@odradek/testing';
import { codesIn, controllerQuestions, knownTopic } from './controller-questions.ts';

const kafka = await apacheKafka39();
const skip = process.platform === 'linux' ? skipWithout(kafka) : 'only Linux answers on all addresses of the loopback network';

const [brokerHost, administratorHost, strangerHost] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const credentials = 'org.apache.zookeeper.server.auth.DigestLoginModule required username="broker" password="secret";';
const jaas = `Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required user_broker="secret";
};
Client {
  ${credentials}
};
`;
const settings = {
  'zookeeper.set.acl': true,
  'authorizer.class.name': 'kafka.security.authorizer.AclAuthorizer',
  'allow.everyone.if.no.acl.found': true,
  'auto.create.topics.enable': false,
};

/** For what Kafka 3.9 has without ZooKeeper only. */
const oursAlone = /^\/config\/(groups|client-metrics|other_changes) /;

describe('Apache Kafka 3.9 and Odradek', { skip }, () => {
  let directory: string;
  let zookeeper: ZooKeeperEnsemble;
  let theirs: KafkaBroker;
  /** In a tree of its own. */
  let alone: OdradekProcess;
  /** In the tree of Kafka. */
  let beside: OdradekProcess | undefined;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'odradek-secured-'));
    const jaasFile = join(directory, 'jaas.conf');
    writeFileSync(jaasFile, jaas);
    const login = `-Djava.security.auth.login.config=${jaasFile}`;
    zookeeper = await startZooKeeper(needed(kafka), {
      config: { 'authProvider.sasl': 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider' },
      javaArguments: [login, superuserArgument],
    });
    [theirs, alone] = await Promise.all([
      startKafkaBroker(needed(kafka), { properties: properties(0, '/kafka'), javaArguments: [...quickJava, login] }),
      startOdradek(0, '/odradek'),
    ]);
  });
  after(async () => {
    await Promise.all([theirs?.close(), alone?.close(), beside?.close()]);
    await zookeeper?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function properties(id: number, chroot: string): Readonly<Record<string, string | number | boolean>> {
    return { ...settings, 'broker.id': id, 'zookeeper.connect': zookeeper.connect + chroot };
  }

  function startOdradek(id: number, chroot: string): Promise<OdradekProcess> {
    return startOdradekProcess({
      properties: { ...properties(id, chroot), 'odradek.zookeeper.sasl.jaas.config': credentials },
    });
  }

  test('give the same nodes to the same names', async () => {
    for (const { port } of [theirs, alone]) {
      await untilController(0, [port]);
      await using client = await RawClient.connect({ port, localAddress: administratorHost });
      await writeOfEverything(client);
    }
    const [server] = zookeeper.servers;
    assert.ok(server !== undefined);
    const lists = async (chroot: string) => [...(await readAccessLists(server, chroot))].map((node) => node.join(' '));
    const expected = await lists('/kafka');
    assert.ok(expected.some((line) => line.startsWith('/config/users/alice ') && line.endsWith(' sasl:broker:31')));
    assert.deepEqual(
      (await lists('/odradek')).filter((line) => !oursAlone.test(line)),
      expected,
    );
  });

  test('refuse the same people in the same order, whoever is the controller', async () => {
    beside = await startOdradek(1, '/kafka');
    const ports = [theirs.port, beside.port];
    await untilController(0, ports);
    const byOurs = await asked(beside.port, administratorHost, strangerHost);
    const byTheirController = await asked(theirs.port, strangerHost);
    await moveController(1);
    await untilController(1, ports);
    const byTheirs = await asked(theirs.port, administratorHost, strangerHost);
    const byOurController = await asked(beside.port, strangerHost);
    for (const [i, { what, elsewhere, toStrangerElsewhere, toStranger }] of controllerQuestions.entries()) {
      const kafkas = [...(byTheirs[i] ?? []), ...(byTheirController[i] ?? [])];
      const ours = [...(byOurs[i] ?? []), ...(byOurController[i] ?? [])];
      assert.deepEqual(kafkas.map(codesIn), [elsewhere, toStrangerElsewhere, toStranger], `Kafka: ${what}`);
      assert.deepEqual(ours.map(withoutTexts), kafkas.map(withoutTexts), what);
    }
  });

  async function moveController(to: number): Promise<void> {
    const connect = `${zookeeper.connect}/kafka`;
    const sasl = { username: 'broker', password: 'secret' };
    const world = { ...createSystemWorld(), logger: createLogger({ level: 'fatal' }) };
    const session = await (await ZooKeeperStore.connect({ ...world, connect, sasl })).openSession();
    try {
      await until(`broker ${to} is the controller`, async () => {
        const controller = await controllerIn(session);
        if (controller !== undefined && controller !== to) await session.delete(controllerNode.path).catch(() => undefined);
        return controller === to;
      });
    } finally {
      await session.close();
    }
  }
});

/** Makes nodes of every kind, as an administrator would. The last thing are the rights of brokers and administrators: strangers have none. */
async function writeOfEverything(client: RawClient): Promise<void> {
  const timeoutMs = 10_000;
  const names = [knownTopic, 'gone'];
  const topics = names.map((name) => ({ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }));
  const config = (resourceType: number, resourceName: string, name: string, value: string) => ({
    resourceType,
    resourceName,
    configs: [{ name, configOperation: 0, value }],
  });
  const resources = [
    config(2, knownTopic, 'retention.ms', '3600000'),
    config(4, '0', 'log.cleaner.threads', '1'),
    config(4, '', 'log.retention.ms', '86400000'),
  ];
  const [user, clientId] = ['user', 'client-id'].map((entityType) => ({ entityType, entityName: 'alice' }));
  const entries = [[user], [user, clientId], [clientId], [{ entityType: 'ip', entityName: null }]].map((entity, i) => ({
    entity: entity.filter((part) => part !== undefined),
    ops: [{ key: i < 3 ? 'producer_byte_rate' : 'connection_creation_rate', value: 1e6, remove: false }],
  }));
  const offsets = [{ name: knownTopic, partitions: [{ partitionIndex: 0, committedOffset: 0, committedMetadata: '' }] }];
  const all = { principal: 'User:ANONYMOUS', host: administratorHost, operation: 2, permissionType: 3 };
  const creations = [
    { ...all, resourceType: 2, resourceName: 'pre', resourcePatternType: 4 },
    { ...all, resourceType: 2, resourceName: '*', resourcePatternType: 3 },
    { ...all, resourceType: 4, resourceName: 'kafka-cluster', resourcePatternType: 3 },
    { ...all, resourceType: 4, resourceName: 'kafka-cluster', resourcePatternType: 3, host: brokerHost, operation: 9 },
  ];
  const answers = [
    await client.send(p.CreateTopicsRequest, p.CreateTopicsResponse, 7, { topics, timeoutMs }),
    await client.send(p.DeleteTopicsRequest, p.DeleteTopicsResponse, 6, { topics: [{ name: 'gone' }], timeoutMs }),
    await client.send(p.IncrementalAlterConfigsRequest, p.IncrementalAlterConfigsResponse, 1, { resources }),
    await client.send(p.AlterClientQuotasRequest, p.AlterClientQuotasResponse, 1, { entries }),
    await until('there are producer ids', async () => {
      const request = { transactionalId: null, transactionTimeoutMs: 1000 };
      const answer = await client.send(p.InitProducerIdRequest, p.InitProducerIdResponse, 4, request);
      return answer.errorCode === p.errorCodes.COORDINATOR_LOAD_IN_PROGRESS ? undefined : answer;
    }),
    // In this version offsets go into the tree.
    await client.send(p.OffsetCommitRequest, p.OffsetCommitResponse, 0, { groupId: 'old', topics: offsets }),
    await client.send(p.CreateAclsRequest, p.CreateAclsResponse, 3, { creations }),
  ];
  for (const answer of answers) assert.match(codesIn(answer), /^ok( ok)*$/, JSON.stringify(answer));
}

async function controllerIn(session: Coordination): Promise<number | undefined> {
  const { data } = await session.get(controllerNode.path).catch(() => ({ data: null }));
  return data === null ? undefined : controllerNode.decode(data).brokerId;
}

/** Both brokers have been told of it, and of each other. */
async function untilController(id: number, ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    await using client = await RawClient.connect({ port, localAddress: administratorHost });
    await until(`the broker on port ${port} knows the controller`, async () => {
      const { brokers, controllerId } = await client.send(p.MetadataRequest, p.MetadataResponse, 12, { topics: [] });
      return controllerId === id && brokers.length === ports.length;
    });
  }
}

/** The answers to each question, one for each address that it is asked from. */
async function asked(port: number, ...hosts: readonly string[]): Promise<unknown[][]> {
  const answers: unknown[][] = controllerQuestions.map(() => []);
  for (const localAddress of hosts) {
    await using client = await RawClient.connect({ port, localAddress });
    for (const [i, { ask }] of controllerQuestions.entries()) answers[i]?.push(await ask(client));
  }
  return answers;
}

/** Everybody words errors in his own way. */
function withoutTexts(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withoutTexts);
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer)
      .filter(([name]) => name !== 'errorMessage')
      .map(([name, value]) => [name, withoutTexts(value)]),
  );
}
