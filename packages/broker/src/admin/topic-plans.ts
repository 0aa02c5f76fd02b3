// What a topic that somebody wants would look like: names checked, partitions and replicas placed or taken from the request.
// Pure, but for the chance that placement draws on. Throws ProtocolErrors with Kafka's codes.

import type { TopicAssignment } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { Random } from '@odradek/runtime';
import { topicNameProblem } from '../config/topic-name.ts';
import { type BrokerRack, placeReplicas } from '../controller/replica-placement.ts';
import type { TopicToCreate, TopicToGrow } from './topic-changes.ts';

export interface TopicPlan {
  readonly replicas: ReadonlyMap<number, readonly number[]>;
  readonly replicationFactor: number;
  readonly configs: ReadonlyMap<string, string>;
}

/** The names in use, by themselves and by what metrics make of them: a dot and an underscore look the same there. */
export class TopicNames {
  readonly #names = new Set<string>();
  readonly #byMetricName = new Map<string, string>();

  constructor(names: Iterable<string>) {
    for (const name of names) this.add(name);
  }

  add(name: string): void {
    this.#names.add(name);
    this.#byMetricName.set(metricName(name), name);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** A name in use that cannot be told from this one in metrics. */
  collision(name: string): string | undefined {
    const other = this.#byMetricName.get(metricName(name));
    return other === name ? undefined : other;
  }
}

function metricName(name: string): string {
  return name.replaceAll('.', '_');
}

/** The limit of a request's partitions in all is the client's time; this is the limit of one topic: more could not be encoded in a node. */
const maxPartitions = 100_000;

export function planTopic(
  topic: TopicToCreate,
  parts: {
    readonly existing: TopicNames;
    readonly brokers: readonly BrokerRack[];
    /** Whether a broker that is not among them is one of the cluster and takes replicas: it is down. */
    readonly mayBeDown: (brokerId: number) => boolean;
    readonly defaults: { readonly numPartitions: number; readonly replicationFactor: number };
    readonly random: Random;
  },
): TopicPlan {
  checkName(topic.name, parts.existing);
  const configs = requestedConfigs(topic);
  if (topic.assignments.length > 0) {
    const replicas = assignedReplicas(topic, parts);
    return { replicas, replicationFactor: replicas.get(0)?.length ?? 0, configs };
  }
  if (topic.numPartitions < -1 || topic.numPartitions === 0) {
    throw new ProtocolError(errorCodes.INVALID_PARTITIONS, 'Number of partitions was set to an invalid non-positive value.');
  }
  if (topic.replicationFactor < -1 || topic.replicationFactor === 0) {
    throw new ProtocolError(
      errorCodes.INVALID_REPLICATION_FACTOR,
      'Replication factor must be larger than 0, or -1 to use the default value.',
    );
  }
  const partitionCount = topic.numPartitions === -1 ? parts.defaults.numPartitions : topic.numPartitions;
  if (partitionCount > maxPartitions) {
    throw new ProtocolError(
      errorCodes.INVALID_PARTITIONS,
      `A topic may have ${maxPartitions} partitions at most, not ${partitionCount}.`,
    );
  }
  const replicationFactor = topic.replicationFactor === -1 ? parts.defaults.replicationFactor : topic.replicationFactor;
  ensureEnoughBrokers(replicationFactor, parts.brokers);
  const replicas = placeReplicas(parts.brokers, { partitionCount, replicationFactor, random: parts.random });
  return { replicas, replicationFactor, configs };
}

function checkName(name: string, existing: TopicNames): void {
  const problem = topicNameProblem(name);
  if (problem !== undefined) throw new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION, problem);
  if (existing.has(name)) throw new ProtocolError(errorCodes.TOPIC_ALREADY_EXISTS, `Topic '${name}' already exists.`);
  const other = existing.collision(name);
  if (other !== undefined) {
    throw new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION, `Topic '${name}' collides with existing topic: ${other}`);
  }
}

function requestedConfigs({ configs }: TopicToCreate): Map<string, string> {
  const requested = new Map<string, string>();
  for (const { name, value } of configs) {
    if (value === null) throw new ProtocolError(errorCodes.INVALID_CONFIG, `Null value not supported for topic configs: ${name}`);
    requested.set(name, value);
  }
  return requested;
}

function ensureEnoughBrokers(replicationFactor: number, brokers: readonly BrokerRack[]): void {
  if (replicationFactor <= brokers.length) return;
  throw new ProtocolError(
    errorCodes.INVALID_REPLICATION_FACTOR,
    `Unable to replicate the partition ${replicationFactor} time(s): The target replication factor of ${replicationFactor} cannot be reached because only ${brokers.length} broker(s) are registered.`,
  );
}

/** A broker that is down may be named beside one that is there: it follows when it comes back. */
function assignedReplicas(
  topic: TopicToCreate,
  { brokers, mayBeDown }: { readonly brokers: readonly BrokerRack[]; readonly mayBeDown: (brokerId: number) => boolean },
): Map<number, number[]> {
  const isThere = (brokerId: number): boolean => brokers.some(({ id }) => id === brokerId);
  if (topic.replicationFactor !== -1) {
    throw new ProtocolError(
      errorCodes.INVALID_REQUEST,
      'A manual partition assignment was specified, but replication factor was not set to -1.',
    );
  }
  if (topic.numPartitions !== -1) {
    throw new ProtocolError(
      errorCodes.INVALID_REQUEST,
      'A manual partition assignment was specified, but numPartitions was not set to -1.',
    );
  }
  const replicas = new Map<number, number[]>();
  for (const { partitionIndex, brokerIds } of topic.assignments) {
    if (replicas.has(partitionIndex))
      throw badAssignment(`Found multiple manual partition assignments for partition ${partitionIndex}`);
    checkReplicas(brokerIds, (brokerId) => isThere(brokerId) || mayBeDown(brokerId));
    if (!brokerIds.some(isThere))
      throw badAssignment(`None of the brokers in the manual partition assignment is there: ${brokerIds.join(', ')}.`);
    replicas.set(partitionIndex, [...brokerIds]);
  }
  const factor = replicas.values().next().value?.length;
  for (let index = 0; index < replicas.size; index++) {
    const ofPartition = replicas.get(index);
    if (ofPartition === undefined) throw badAssignment('partitions should be a consecutive 0-based integer sequence');
    if (ofPartition.length !== factor) throw badAssignment('All partitions should have the same number of replicas.');
  }
  return new Map([...replicas].sort(([a], [b]) => a - b));
}

function checkReplicas(replicas: readonly number[], isKnown: (brokerId: number) => boolean): void {
  if (replicas.length === 0) throw badAssignment('The manual partition assignment includes an empty replica list.');
  for (const [index, replica] of replicas.entries()) {
    if (replicas.indexOf(replica) !== index) {
      throw badAssignment(`The manual partition assignment includes the broker ${replica} more than once.`);
    }
    if (!isKnown(replica)) {
      throw badAssignment(`The manual partition assignment includes broker ${replica}, but no such broker is registered.`);
    }
  }
}

function badAssignment(message: string): ProtocolError {
  return new ProtocolError(errorCodes.INVALID_REPLICA_ASSIGNMENT, message);
}

/** The replicas of the partitions that are to be added. */
export function planGrowth(
  { name, count, assignments }: TopicToGrow,
  current: TopicAssignment,
  parts: { readonly brokers: readonly BrokerRack[]; readonly random: Random },
): Map<number, number[]> {
  if (current.addingReplicas.size + current.removingReplicas.size > 0) throw new ProtocolError(errorCodes.REASSIGNMENT_IN_PROGRESS);
  const before = current.replicas.size;
  if (count === before) throw new ProtocolError(errorCodes.INVALID_PARTITIONS, `Topic already has ${before} partition(s).`);
  if (count < before) {
    throw new ProtocolError(
      errorCodes.INVALID_PARTITIONS,
      `The topic ${name} currently has ${before} partition(s); ${count} would not be an increase.`,
    );
  }
  if (count > maxPartitions) {
    throw new ProtocolError(errorCodes.INVALID_PARTITIONS, `A topic may have ${maxPartitions} partitions at most, not ${count}.`);
  }
  const first = current.replicas.get(0) ?? [];
  if (assignments !== null)
    return assignedGrowth(assignments, { before, count, replicationFactor: first.length, brokers: parts.brokers });
  ensureEnoughBrokers(first.length, parts.brokers);
  // Where the topic's first partition is, so that its leaders go on round the brokers.
  const sorted = parts.brokers.map(({ id }) => id).sort((a, b) => a - b);
  return placeReplicas(parts.brokers, {
    partitionCount: count - before,
    replicationFactor: first.length,
    firstPartition: before,
    fixedStartIndex: Math.max(
      0,
      sorted.findIndex((id) => id >= (first[0] ?? 0)),
    ),
    random: parts.random,
  });
}

function assignedGrowth(
  assignments: readonly { readonly brokerIds: readonly number[] }[],
  sizes: {
    readonly before: number;
    readonly count: number;
    readonly replicationFactor: number;
    readonly brokers: readonly BrokerRack[];
  },
): Map<number, number[]> {
  const { before, count, replicationFactor, brokers } = sizes;
  if (assignments.length !== count - before) {
    throw badAssignment(
      `Attempted to add ${count - before} additional partition(s), but only ${assignments.length} assignment(s) were specified.`,
    );
  }
  return new Map(
    assignments.map(({ brokerIds }, index) => {
      checkReplicas(brokerIds, (brokerId) => brokers.some(({ id }) => id === brokerId));
      if (brokerIds.length !== replicationFactor) {
        throw badAssignment(
          `The manual partition assignment includes a partition with ${brokerIds.length} replica(s), but this is not consistent with previous partitions, which have ${replicationFactor} replica(s).`,
        );
      }
      return [before + index, [...brokerIds]];
    }),
  );
}
