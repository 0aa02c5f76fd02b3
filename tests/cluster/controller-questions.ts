// Requests that are, or seem to be, the controller's alone, and what is answered by a broker that is not the controller: to an
// administrator, who may do everything, and to a stranger, who may do nothing; and what the controller itself answers to the stranger.
//
// The answers are those of Apache Kafka 3.9.1 on ZooKeeper with its AclAuthorizer, of which secured-beside-kafka.test.ts asks them again.
// Nothing comes of any of these requests.

import * as p from '@odradek/protocol';
import { errorByCode, type Message, type MessageDefinition, type MessageInit } from '@odradek/protocol';
import type { RawClient } from '@odradek/testing';

export interface ControllerQuestion {
  readonly what: string;
  ask(client: RawClient): Promise<unknown>;
  /** The error codes in the order of the answer: of the request as a whole, then of each thing that it names. */
  readonly elsewhere: string;
  readonly toStrangerElsewhere: string;
  readonly toStranger: string;
}

/** The topic that there must be, and no other, with one partition on the broker of that id. */
export const knownTopic = 'known';

type Answers = readonly [elsewhere: string, toStrangerElsewhere: string, toStranger: string];

function question<Q extends MessageDefinition, A extends MessageDefinition>(
  what: string,
  [request, response, version]: readonly [request: Q, response: A, version: number],
  body: MessageInit<Q>,
  [elsewhere, toStrangerElsewhere, toStranger]: Answers,
): ControllerQuestion {
  const ask = (client: RawClient): Promise<Message<A>> => client.send(request, response, version, body);
  return { what: `${request.name.replace(/Request$/, '')} ${version}: ${what}`, ask, elsewhere, toStrangerElsewhere, toStranger };
}

/** All error codes of an answer by their names. */
export function codesIn(answer: unknown): string {
  const codes: string[] = [];
  const look = (value: unknown, key: string): void => {
    if (typeof value === 'number' && key === 'errorCode') codes.push(errorByCode(value).name);
    else if (Array.isArray(value)) for (const item of value) look(item, key);
    else if (typeof value === 'object' && value !== null) for (const [name, item] of Object.entries(value)) look(item, name);
  };
  look(answer, '');
  return codes.map((name) => short[name] ?? name).join(' ');
}

const short: Readonly<Record<string, string>> = {
  NONE: 'ok',
  NOT_CONTROLLER: 'elsewhere',
  TOPIC_AUTHORIZATION_FAILED: 'topic',
  CLUSTER_AUTHORIZATION_FAILED: 'cluster',
  INVALID_REQUEST: 'invalid',
};

const timeoutMs = 3000;
const noTopic = 'AQEBAQEBAQEBAQEBAQEBAQ';
const absent = { timeoutMs, topics: ['absent'].map((name) => newTopic(name)) };
const twice = ['twice', 'twice', 'once'];

function newTopic(name: string) {
  return { name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] };
}

const createTopics = (version: number) => [p.CreateTopicsRequest, p.CreateTopicsResponse, version] as const;
const deleteTopics = (version: number) => [p.DeleteTopicsRequest, p.DeleteTopicsResponse, version] as const;
const createPartitions = (version: number) => [p.CreatePartitionsRequest, p.CreatePartitionsResponse, version] as const;
const electLeaders = (version: number) => [p.ElectLeadersRequest, p.ElectLeadersResponse, version] as const;
const reassign = [p.AlterPartitionReassignmentsRequest, p.AlterPartitionReassignmentsResponse, 0] as const;
const listReassignments = [p.ListPartitionReassignmentsRequest, p.ListPartitionReassignmentsResponse, 0] as const;
const updateFeatures = [p.UpdateFeaturesRequest, p.UpdateFeaturesResponse, 1] as const;
const alterScram = [p.AlterUserScramCredentialsRequest, p.AlterUserScramCredentialsResponse, 0] as const;
const describeScram = [p.DescribeUserScramCredentialsRequest, p.DescribeUserScramCredentialsResponse, 0] as const;
const alterPartition = [p.AlterPartitionRequest, p.AlterPartitionResponse, 3] as const;
const allocateIds = [p.AllocateProducerIdsRequest, p.AllocateProducerIdsResponse, 0] as const;
const controlledShutdown = (version: number) => [p.ControlledShutdownRequest, p.ControlledShutdownResponse, version] as const;
const alterConfigs = [p.AlterConfigsRequest, p.AlterConfigsResponse, 2] as const;
const incrementalAlterConfigs = [p.IncrementalAlterConfigsRequest, p.IncrementalAlterConfigsResponse, 1] as const;
const createAcls = [p.CreateAclsRequest, p.CreateAclsResponse, 3] as const;
const deleteAcls = [p.DeleteAclsRequest, p.DeleteAclsResponse, 3] as const;
const alterQuotas = [p.AlterClientQuotasRequest, p.AlterClientQuotasResponse, 1] as const;

/** They look first whether this broker is the controller. */
const controllerFirst: readonly ControllerQuestion[] = [
  ...[0, 1, 4, 5, 7].map((version) => question('a topic', createTopics(version), absent, ['elsewhere', 'elsewhere', 'topic'])),
  question('only to check', createTopics(7), { ...absent, validateOnly: true }, ['elsewhere', 'elsewhere', 'topic']),
  question('without time', createTopics(7), { ...absent, timeoutMs: 0 }, ['elsewhere', 'elsewhere', 'topic']),
  question('a topic that is there', createTopics(7), { timeoutMs, topics: [newTopic(knownTopic)] }, [
    'elsewhere',
    'elsewhere',
    'topic',
  ]),
  question('a name that is none', createTopics(7), { timeoutMs, topics: [newTopic('a b')] }, ['elsewhere', 'elsewhere', 'topic']),
  question('the name of the cluster itself', createTopics(7), { timeoutMs, topics: [newTopic('__cluster_metadata')] }, [
    'elsewhere',
    'elsewhere',
    'invalid',
  ]),
  question('one twice', createTopics(7), { timeoutMs, topics: twice.map(newTopic) }, [
    'elsewhere elsewhere elsewhere',
    'elsewhere elsewhere elsewhere',
    'invalid invalid topic',
  ]),
  question('nothing', createTopics(7), { timeoutMs, topics: [] }, ['', '', '']),
  ...[0, 3, 5].map((version) =>
    question('a topic', deleteTopics(version), { timeoutMs, topicNames: ['absent'] }, ['elsewhere', 'elsewhere', 'topic']),
  ),
  question('one twice', deleteTopics(6), { timeoutMs, topics: twice.map((name) => ({ name })) }, [
    'elsewhere elsewhere elsewhere',
    'elsewhere elsewhere elsewhere',
    'topic topic topic',
  ]),
  question('an id that nobody knows', deleteTopics(6), { timeoutMs, topics: [{ name: null, topicId: noTopic }] }, [
    'elsewhere',
    'elsewhere',
    'UNKNOWN_TOPIC_ID',
  ]),
  question('name and id', deleteTopics(6), { timeoutMs, topics: [{ name: 'x', topicId: noTopic }] }, [
    'elsewhere',
    'elsewhere',
    'invalid',
  ]),
  question('nothing', deleteTopics(6), { timeoutMs, topics: [] }, ['', '', '']),
  ...[0, 3].map((version) =>
    question('a topic', createPartitions(version), { timeoutMs, topics: [{ name: 'absent', count: 3, assignments: null }] }, [
      'elsewhere',
      'elsewhere',
      'topic',
    ]),
  ),
  question(
    'only to check',
    createPartitions(3),
    { timeoutMs, validateOnly: true, topics: [{ name: knownTopic, count: 3, assignments: null }] },
    ['elsewhere', 'elsewhere', 'topic'],
  ),
  question('one twice', createPartitions(3), { timeoutMs, topics: twice.map((name) => ({ name, count: 3, assignments: null })) }, [
    'elsewhere elsewhere',
    'elsewhere elsewhere',
    'invalid topic',
  ]),
  question('nothing', createPartitions(3), { timeoutMs, topics: [] }, ['', '', '']),
  question(
    'two users',
    alterScram,
    {
      deletions: [{ name: 'a', mechanism: 1 }],
      upsertions: [{ name: 'b', mechanism: 1, iterations: 1, salt: Buffer.of(1), saltedPassword: Buffer.of(1) }],
    },
    ['elsewhere elsewhere', 'elsewhere elsewhere', 'cluster cluster'],
  ),
  question('nothing', alterScram, { deletions: [], upsertions: [] }, ['', '', '']),
];

/** They look first whether who asks may do so. */
const permissionFirst: readonly ControllerQuestion[] = [
  question('a partition', electLeaders(0), { timeoutMs, topicPartitions: [{ topic: 'absent', partitions: [0] }] }, [
    'ok elsewhere',
    'ok cluster',
    'ok cluster',
  ]),
  question('a partition', electLeaders(2), { timeoutMs, topicPartitions: [{ topic: 'absent', partitions: [0, 0] }] }, [
    'ok elsewhere',
    'cluster cluster',
    'cluster cluster',
  ]),
  question('all', electLeaders(2), { timeoutMs, topicPartitions: null }, ['ok elsewhere', 'cluster', 'cluster']),
  question('none', electLeaders(2), { timeoutMs, topicPartitions: [] }, ['ok', 'cluster', 'cluster']),
  question(
    'a partition',
    reassign,
    { timeoutMs, topics: [{ name: 'absent', partitions: [{ partitionIndex: 0, replicas: [0] }] }] },
    ['elsewhere', 'cluster cluster', 'cluster cluster'],
  ),
  question(
    'one twice',
    reassign,
    { timeoutMs, topics: [{ name: knownTopic, partitions: [{ partitionIndex: 0 }, { partitionIndex: 0 }] }] },
    ['elsewhere', 'cluster cluster cluster', 'cluster cluster cluster'],
  ),
  question('nothing', reassign, { timeoutMs, topics: [] }, ['elsewhere', 'cluster', 'cluster']),
  question('all', listReassignments, { timeoutMs, topics: null }, ['elsewhere', 'cluster', 'cluster']),
  question('a partition', listReassignments, { timeoutMs, topics: [{ name: 'absent', partitionIndexes: [0] }] }, [
    'elsewhere',
    'cluster',
    'cluster',
  ]),
  question('a feature', updateFeatures, { timeoutMs, featureUpdates: [{ feature: 'f', maxVersionLevel: 2 }] }, [
    'elsewhere',
    'cluster',
    'cluster',
  ]),
  question('nothing', updateFeatures, { timeoutMs, featureUpdates: [] }, ['elsewhere', 'cluster', 'cluster']),
  question('of a broker that was', alterPartition, { brokerId: 77, brokerEpoch: 1, topics: [] }, [
    'elsewhere',
    'cluster',
    'cluster',
  ]),
  question('of a broker that was', allocateIds, { brokerId: 77, brokerEpoch: 1 }, ['elsewhere', 'cluster', 'cluster']),
  question('of a broker that was', controlledShutdown(1), { brokerId: 77 }, ['STALE_CONTROLLER_EPOCH', 'cluster', 'cluster']),
  question('of a broker that was', controlledShutdown(3), { brokerId: 77, brokerEpoch: 1 }, [
    'STALE_CONTROLLER_EPOCH',
    'cluster',
    'cluster',
  ]),
];

const absentConfigs = [resource(2, 'absent'), resource(2, 'absent'), resource(2, 'gone')];

function resource(resourceType: number, resourceName: string) {
  return { resourceType, resourceName, configs: [{ name: 'retention.ms', configOperation: 0, value: '1' }] };
}

/** Every broker answers these. */
const anywhere: readonly ControllerQuestion[] = [
  question('a topic that is not there', alterConfigs, { resources: [resource(2, 'absent')] }, [
    'UNKNOWN_TOPIC_OR_PARTITION',
    'topic',
    'topic',
  ]),
  question('nothing', alterConfigs, { resources: [] }, ['', '', '']),
  question('a topic that is not there', incrementalAlterConfigs, { resources: [resource(2, 'absent')] }, [
    'UNKNOWN_TOPIC_OR_PARTITION',
    'topic',
    'topic',
  ]),
  question('one twice', incrementalAlterConfigs, { resources: absentConfigs }, [
    'invalid invalid UNKNOWN_TOPIC_OR_PARTITION',
    'invalid invalid topic',
    'invalid invalid topic',
  ]),
  question('another broker', incrementalAlterConfigs, { resources: [resource(4, '77')] }, ['invalid', 'invalid', 'invalid']),
  question('the loggers of another broker', incrementalAlterConfigs, { resources: [resource(8, '77')] }, [
    'invalid',
    'cluster',
    'cluster',
  ]),
  question('a kind that there is not', incrementalAlterConfigs, { resources: [resource(0, 'x')] }, [
    'invalid',
    'invalid',
    'invalid',
  ]),
  question(
    'an entry without a name',
    createAcls,
    { creations: [{ resourceType: 2, resourceName: '', principal: 'User:x', host: '*', operation: 3, permissionType: 3 }] },
    ['invalid', 'cluster', 'cluster'],
  ),
  question('nothing', createAcls, { creations: [] }, ['', '', '']),
  question(
    'an entry that is not there',
    deleteAcls,
    {
      filters: [
        {
          resourceTypeFilter: 2,
          resourceNameFilter: 'absent',
          patternTypeFilter: 3,
          principalFilter: null,
          hostFilter: null,
          operation: 1,
          permissionType: 1,
        },
      ],
    },
    ['ok', 'cluster', 'cluster'],
  ),
  question(
    'a quota that there is not',
    alterQuotas,
    { validateOnly: true, entries: [{ entity: [{ entityType: 'user', entityName: 'q' }], ops: [{ key: 'nope', value: 1 }] }] },
    ['invalid', 'cluster', 'cluster'],
  ),
  question('all users', describeScram, { users: [] }, ['ok', 'cluster', 'cluster']),
];

export const controllerQuestions: readonly ControllerQuestion[] = [...controllerFirst, ...permissionFirst, ...anywhere];
