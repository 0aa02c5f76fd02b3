// Creating, deleting and growing topics: what CreateTopics, DeleteTopics, CreatePartitions and auto-creation share. The
// change is written to the coordination tree, where the controller finds it; then this waits until the metadata cache shows it.

import {
  type Coordination,
  configNode,
  deleteTopicNode,
  isCoordinationError,
  type Operation,
  type TopicAssignment,
  topicNode,
  topicsNode,
} from '@odradek/coordination';
import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { Logger, Random, Timer } from '@odradek/runtime';
import { topicNameProblem } from '../config/topic-name.ts';
import { coordinationFailure } from '../controller/coordination-failure.ts';
import type { BrokerRack } from '../controller/replica-placement.ts';
import { type MetadataCache, type MetadataSnapshot, noLeader } from '../metadata/metadata-cache.ts';
import { randomUuid } from '../metadata/random-uuid.ts';
import { UntilLapsedSession } from '../until-lapsed.ts';
import { type ConfigChanges, type ConfigRules, configResourceTypes } from './config-changes.ts';
import type { MutationBudget } from './mutation-budget.ts';
import { planGrowth, planTopic, TopicNames, type TopicPlan } from './topic-plans.ts';

/** A topic of a CreateTopics request, as decoded. */
export interface TopicToCreate {
  readonly name: string;
  /** -1: the broker's default, or given by the assignments. */
  readonly numPartitions: number;
  readonly replicationFactor: number;
  readonly assignments: readonly { readonly partitionIndex: number; readonly brokerIds: readonly number[] }[];
  readonly configs: readonly { readonly name: string; readonly value: string | null }[];
}

export interface CreatedTopic {
  readonly name: string;
  /** undefined: done (or, with validateOnly, possible). */
  readonly error: ProtocolError | undefined;
  /** The zero uuid with validateOnly, and on an error but that it took too long. */
  readonly topicId: string;
  /** -1 on error. */
  readonly numPartitions: number;
  readonly replicationFactor: number;
  /** The overrides that the topic has (or would have). */
  readonly configs: ReadonlyMap<string, string>;
}

/** A topic of a DeleteTopics request: by name, or by id with name null. */
export interface TopicToDelete {
  readonly name: string | null;
  readonly topicId: string;
}

export interface DeletedTopic {
  readonly name: string | null;
  readonly topicId: string;
  readonly error: ProtocolError | undefined;
}

/** A topic of a CreatePartitions request, as decoded. */
export interface TopicToGrow {
  readonly name: string;
  /** How many partitions the topic shall have in all. */
  readonly count: number;
  readonly assignments: readonly { readonly brokerIds: readonly number[] }[] | null;
}

export interface GrownTopic {
  readonly name: string;
  readonly error: ProtocolError | undefined;
}

/** The broker configs that topics begin with; read at each use, since some change while the broker runs. */
export interface TopicDefaults {
  /** num.partitions */
  readonly numPartitions: number;
  /** default.replication.factor */
  readonly replicationFactor: number;
  /** delete.topic.enable */
  readonly isDeletionEnabled: boolean;
  /** Partitions, replication factor and configs of an internal topic (offsets.topic.…, transaction.state.log.…); undefined for others. */
  internalTopic(
    name: string,
  ):
    | { readonly numPartitions: number; readonly replicationFactor: number; readonly configs: ReadonlyMap<string, string> }
    | undefined;
}

export interface ChangeOptions {
  readonly timeoutMs: number;
  readonly validateOnly: boolean;
  /** What is done is taken from it; undefined: there is no limit. */
  readonly budget?: MutationBudget | undefined;
}

export interface TopicChangesParts {
  readonly coordination: Coordination;
  readonly metadataCache: MetadataCache;
  readonly configChanges: ConfigChanges;
  readonly rules: ConfigRules;
  readonly defaults: TopicDefaults;
  /** Whether none of the broker's log directories takes new replicas. */
  readonly isCordoned: (brokerId: number) => boolean;
  /** Whether this broker is the active controller; the three admin requests answer NOT_CONTROLLER elsewhere. */
  readonly isActiveController: () => boolean;
  readonly timer: Timer;
  readonly random: Random;
  readonly logger: Logger;
}

export class TopicChanges {
  readonly #parts: TopicChangesParts;
  /** Auto-creations under way, by topic. */
  readonly #autoCreations = new Map<string, Promise<ProtocolError | undefined>>();

  constructor(parts: TopicChangesParts) {
    this.#parts = { ...parts, coordination: new UntilLapsedSession(parts.coordination) };
  }

  /** CreateTopics. Settles when all topics have leaders in the metadata cache, or after timeoutMs (REQUEST_TIMED_OUT for the rest). */
  async createTopics(
    topics: readonly TopicToCreate[],
    { timeoutMs, validateOnly, budget }: ChangeOptions,
  ): Promise<CreatedTopic[]> {
    this.#ensureController();
    this.#checkTotal(topics);
    const existing = await this.#topicNames();
    const created = await Promise.all(topics.map((topic) => this.#createTopic(topic, existing, { validateOnly, budget })));
    if (validateOnly) return created;
    const waiting = created.filter(({ error }) => error === undefined);
    for (const { name, numPartitions } of waiting)
      this.#parts.logger.info('Topic created', { topic: name, partitions: numPartitions });
    const isThere = (topic: CreatedTopic, now: MetadataSnapshot) => hasLeaders(now.topic(topic.name), topic.numPartitions);
    const late = await this.#waitFor(waiting, timeoutMs, isThere);
    return created.map((topic) =>
      late.has(topic) ? { ...failedCreation(topic.name, timedOut('created')), topicId: topic.topicId } : topic,
    );
  }

  /** DeleteTopics. Settles when the topics have left the metadata cache, or after timeoutMs. */
  async deleteTopics(
    topics: readonly TopicToDelete[],
    { timeoutMs, budget }: Omit<ChangeOptions, 'validateOnly'>,
  ): Promise<DeletedTopic[]> {
    this.#ensureController();
    if (!this.#parts.defaults.isDeletionEnabled) throw new ProtocolError(errorCodes.TOPIC_DELETION_DISABLED);
    const deleted = await Promise.all(topics.map((topic) => this.#deleteTopic(topic, budget)));
    const waiting = deleted.filter(({ error }) => error === undefined);
    const isGone = ({ name, topicId }: DeletedTopic, now: MetadataSnapshot) => {
      const found = now.topic(name ?? '');
      return found === undefined || found.id !== topicId;
    };
    const late = await this.#waitFor(waiting, timeoutMs, isGone);
    await this.#waitUntilNamesAreFree(
      waiting.filter((topic) => !late.has(topic)),
      timeoutMs,
    );
    return deleted.map((topic) => (late.has(topic) ? { ...topic, error: timedOut('deleted') } : topic));
  }

  /** CreatePartitions. */
  async createPartitions(
    topics: readonly TopicToGrow[],
    { timeoutMs, validateOnly, budget }: ChangeOptions,
  ): Promise<GrownTopic[]> {
    this.#ensureController();
    this.#checkGrowth(topics);
    const grown = await Promise.all(topics.map((topic) => this.#growTopic(topic, { validateOnly, budget })));
    if (validateOnly) return grown;
    const counts = new Map(topics.map(({ name, count }) => [name, count]));
    const waiting = grown.filter(({ error }) => error === undefined);
    const hasGrown = ({ name }: GrownTopic, now: MetadataSnapshot) => hasLeaders(now.topic(name), counts.get(name) ?? 0);
    const late = await this.#waitFor(waiting, timeoutMs, hasGrown);
    return grown.map((topic) => (late.has(topic) ? { ...topic, error: timedOut('given its partitions') } : topic));
  }

  /**
   * Auto-creation, with the defaults (or those of internal topics). Does not wait: Metadata answers LEADER_NOT_AVAILABLE
   * until the leaders are there. Calls for a topic that is being created share that work. Answers the error per topic, or undefined.
   */
  async autoCreate(topics: readonly string[], budget?: MutationBudget): Promise<Map<string, ProtocolError | undefined>> {
    const fresh = topics.filter((name) => !this.#autoCreations.has(name));
    // One reading of the names serves all.
    const existing = fresh.length === 0 ? undefined : this.#topicNames();
    for (const name of fresh) {
      const creation = this.#autoCreateOne(name, existing, budget).finally(() => this.#autoCreations.delete(name));
      this.#autoCreations.set(name, creation);
    }
    const outcomes = await Promise.all(topics.map(async (name) => [name, await this.#autoCreations.get(name)] as const));
    return new Map(outcomes);
  }

  async #autoCreateOne(
    name: string,
    existing: Promise<TopicNames> | undefined,
    budget: MutationBudget | undefined,
  ): Promise<ProtocolError | undefined> {
    const { defaults, logger } = this.#parts;
    try {
      const names = await (existing ?? this.#topicNames());
      const internal = defaults.internalTopic(name);
      const { numPartitions, replicationFactor } = internal ?? defaults;
      const configs = [...(internal?.configs ?? [])].map(([key, value]) => ({ name: key, value }));
      const wanted = { name, numPartitions, replicationFactor, assignments: [], configs };
      const topic = await this.#createTopic(wanted, names, { validateOnly: false, budget });
      // Somebody else has created it: that will do.
      if (topic.error?.code === errorCodes.TOPIC_ALREADY_EXISTS) return undefined;
      if (topic.error === undefined) logger.info('Topic created on demand', { topic: name, partitions: topic.numPartitions });
      return topic.error;
    } catch (error) {
      return coordinationFailure(error);
    }
  }

  #ensureController(): void {
    if (!this.#parts.isActiveController()) throw new ProtocolError(errorCodes.NOT_CONTROLLER);
  }

  /** As in Kafka a request may ask for ten thousand partitions. */
  #checkTotal(topics: readonly TopicToCreate[]): void {
    const { numPartitions } = this.#parts.defaults;
    const counts = topics.map(
      (topic) => topic.assignments.length || (topic.numPartitions === -1 ? numPartitions : topic.numPartitions),
    );
    if (counts.reduce((sum, count) => sum + Math.max(0, count), 0) <= maxPartitionsPerRequest) return;
    throw new ProtocolError(errorCodes.POLICY_VIOLATION, 'Excessively large number of partitions per request.');
  }

  /** The same limit, for the partitions that are added. */
  #checkGrowth(topics: readonly TopicToGrow[]): void {
    const added = topics.map(
      ({ name, count }) => count - (this.#parts.metadataCache.current.topic(name)?.partitions.length ?? count),
    );
    if (added.reduce((sum, count) => sum + Math.max(0, count), 0) <= maxPartitionsPerRequest) return;
    throw new ProtocolError(errorCodes.POLICY_VIOLATION, 'Excessively large number of additional partitions per request.');
  }

  #brokersForReplicas(): BrokerRack[] {
    const { metadataCache, isCordoned } = this.#parts;
    return [...metadataCache.current.brokers()].filter(({ id }) => !isCordoned(id));
  }

  /** Whether some partition is assigned to the broker: it is one of the cluster, even if it is down. */
  #hasReplicas(brokerId: number): boolean {
    for (const { partitions } of this.#parts.metadataCache.current.topics()) {
      if (partitions.some(({ replicas }) => replicas.includes(brokerId))) return true;
    }
    return false;
  }

  async #topicNames(): Promise<TopicNames> {
    try {
      const { names } = await this.#parts.coordination.children(topicsNode.path);
      return new TopicNames(names);
    } catch (error) {
      throw coordinationFailure(error);
    }
  }

  async #createTopic(
    topic: TopicToCreate,
    existing: TopicNames,
    { validateOnly, budget }: Omit<ChangeOptions, 'timeoutMs'>,
  ): Promise<CreatedTopic> {
    const { rules, random, defaults, configChanges } = this.#parts;
    try {
      const plan = planTopic(topic, {
        existing,
        brokers: this.#brokersForReplicas(),
        mayBeDown: (brokerId) => !this.#parts.isCordoned(brokerId) && this.#hasReplicas(brokerId),
        defaults,
        random,
      });
      rules.validate({ type: configResourceTypes.TOPIC, name: topic.name }, plan.configs);
      existing.add(topic.name);
      const result = {
        name: topic.name,
        error: undefined,
        numPartitions: plan.replicas.size,
        replicationFactor: plan.replicationFactor,
        configs: plan.configs,
      };
      if (validateOnly) return { ...result, topicId: zeroUuid };
      budget?.take(plan.replicas.size);
      const topicId = randomUuid(random);
      await this.#writeTopic(topic.name, topicId, plan);
      // The controller has more to write before it can ask anybody for a log with these configs.
      configChanges.topicCreated(topic.name, plan.configs);
      return { ...result, topicId };
    } catch (error) {
      return failedCreation(topic.name, coordinationFailure(error));
    }
  }

  /** Configs and assignment in one transaction: no broker can find the one without the other. */
  async #writeTopic(name: string, topicId: string, plan: TopicPlan): Promise<void> {
    const { coordination } = this.#parts;
    const assignment: TopicAssignment = {
      topicId,
      replicas: plan.replicas,
      addingReplicas: new Map(),
      removingReplicas: new Map(),
    };
    const path = configNode.path('topics', name);
    const data = configNode.encode(plan.configs);
    const createTopic: Operation = { type: 'create', path: topicNode.path(name), data: topicNode.encode(assignment) };
    try {
      await coordination.multi([{ type: 'create', path, data }, createTopic]);
    } catch (error) {
      if (!isCoordinationError(error, 'NodeExists')) throw error;
      if (error.path !== path) throw topicExists(name);
      // Configs that were written for a topic before it was created, or left by one.
      try {
        await coordination.multi([{ type: 'set', path, data, version: -1 }, createTopic]);
      } catch (again) {
        throw isCoordinationError(again, 'NodeExists') ? topicExists(name) : again;
      }
    }
  }

  async #deleteTopic(topic: TopicToDelete, budget: MutationBudget | undefined): Promise<DeletedTopic> {
    const { metadataCache, coordination } = this.#parts;
    const found = topic.name === null ? metadataCache.current.topicById(topic.topicId) : metadataCache.current.topic(topic.name);
    try {
      if (found === undefined) {
        throw new ProtocolError(topic.name === null ? errorCodes.UNKNOWN_TOPIC_ID : errorCodes.UNKNOWN_TOPIC_OR_PARTITION);
      }
      budget?.take(found.partitions.length);
      try {
        await coordination.create(deleteTopicNode.path(found.name), null);
      } catch (error) {
        // Somebody else has asked for it: this waits with them.
        if (!isCoordinationError(error, 'NodeExists')) throw error;
      }
      return { name: found.name, topicId: found.id, error: undefined };
    } catch (error) {
      return { ...topic, error: coordinationFailure(error) };
    }
  }

  async #growTopic(topic: TopicToGrow, { validateOnly, budget }: Omit<ChangeOptions, 'timeoutMs'>): Promise<GrownTopic> {
    const { coordination, metadataCache, random } = this.#parts;
    const { name } = topic;
    let isPaidFor = false;
    try {
      const path = topicNode.path(name);
      for (;;) {
        if (topicNameProblem(name) === undefined && (await coordination.exists(deleteTopicNode.path(name))) !== undefined) {
          throw new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION, 'The topic is queued for deletion.');
        }
        const current = metadataCache.current.topic(name) === undefined ? undefined : await this.#readAssignment(name);
        if (current === undefined)
          throw new ProtocolError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION, `The topic '${name}' does not exist.`);
        const added = planGrowth(topic, current.assignment, { brokers: this.#brokersForReplicas(), random });
        if (validateOnly) return { name, error: undefined };
        if (!isPaidFor) budget?.take(added.size);
        isPaidFor = true;
        const replicas = new Map([...current.assignment.replicas, ...added]);
        try {
          await coordination.set(path, topicNode.encode({ ...current.assignment, replicas }), current.version);
          return { name, error: undefined };
        } catch (error) {
          // Somebody else has changed the assignment meanwhile.
          if (!isCoordinationError(error, 'BadVersion')) throw error;
        }
      }
    } catch (error) {
      return { name, error: coordinationFailure(error) };
    }
  }

  async #readAssignment(name: string): Promise<{ readonly assignment: TopicAssignment; readonly version: number } | undefined> {
    try {
      const { data, stat } = await this.#parts.coordination.get(topicNode.path(name));
      return { assignment: topicNode.decode(name, data), version: stat.version };
    } catch (error) {
      if (isCoordinationError(error, 'NoNode')) return undefined;
      throw error;
    }
  }

  /** Answers those for which it did not come true in time. Without time nobody waits, and all are late, as in Kafka. */
  #waitFor<T>(items: readonly T[], timeoutMs: number, isDone: (item: T, now: MetadataSnapshot) => boolean): Promise<Set<T>> {
    const { metadataCache, timer } = this.#parts;
    const waiting = new Set(items);
    if (waiting.size === 0 || timeoutMs <= 0) return Promise.resolve(waiting);
    return new Promise((resolve) => {
      const look = (): void => {
        for (const item of waiting) if (isDone(item, metadataCache.current)) waiting.delete(item);
        if (waiting.size > 0) return;
        stop();
        deadline.cancel();
        resolve(waiting);
      };
      const stop = metadataCache.onUpdate(look);
      const deadline = timer.schedule(timeoutMs, () => {
        stop();
        resolve(waiting);
      });
      look();
    });
  }

  /** So that a client may create the topic anew as soon as it is told that the old one is gone. Only for a moment: a broker may be down. */
  async #waitUntilNamesAreFree(topics: readonly DeletedTopic[], timeoutMs: number): Promise<void> {
    const { coordination, timer } = this.#parts;
    if (topics.length === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const deadline = timer.schedule(Math.min(timeoutMs, freeNameWaitMs), resolve);
    const free = topics.map(async ({ name }) => {
      const gone = Promise.withResolvers<void>();
      if ((await coordination.exists(topicNode.path(name ?? ''), () => gone.resolve())) !== undefined) await gone.promise;
    });
    Promise.all(free).then(
      () => resolve(),
      () => resolve(),
    );
    await promise;
    deadline.cancel();
  }
}

const freeNameWaitMs = 1000;
const maxPartitionsPerRequest = 10_000;

function hasLeaders(topic: ReturnType<MetadataSnapshot['topic']>, partitionCount: number): boolean {
  return (
    topic !== undefined && topic.partitions.length >= partitionCount && topic.partitions.every(({ leader }) => leader !== noLeader)
  );
}

function failedCreation(name: string, error: ProtocolError): CreatedTopic {
  return { name, error, topicId: zeroUuid, numPartitions: -1, replicationFactor: -1, configs: new Map() };
}

function topicExists(name: string): ProtocolError {
  return new ProtocolError(errorCodes.TOPIC_ALREADY_EXISTS, `Topic '${name}' already exists.`);
}

function timedOut(what: string): ProtocolError {
  return new ProtocolError(
    errorCodes.REQUEST_TIMED_OUT,
    `The topic was not ${what} within the time of the request; it will be later.`,
  );
}
