// The groups of one coordinator in simulated time, driven by the commands of the scripts in testdata:
//
//   join a [v=9] [id=…] [instance=i] [session=10s] [rebalance=60s] [type=consumer] [range=t1,t2] [roundrobin=t1]
//   sync a [a=text b=text]       the leader's assignments, by client; from=2 speaks of another generation
//   beat a, leave a b, leave instance=i
//   commit a t-0=5 [meta=…] [gen=…] [v=9]; commit - t-0=5 without being a member
//   offsets g; delete g; forget g t-0; describe g; list
//   advance 10s; set maxSize=2; expire; drop-topic t
//   refuse CODE | accept; hold | release | lose; resign; elect
//   topic t 4                    there is such a topic now, or it has so many partitions; topic t 0: it is gone
//   hb a [epoch=0] [topics=t,u] [regex=…] [owned=t:0,1;u:0] [instance=i] [assignor=range] [timeout=60s] [v=1] [id=…]
//   describe-consumer g
//
// A client keeps the member id that it was given, the generation that it joined, and the epoch to which it came. All of them are
// in the group g unless `group=` says otherwise.

import {
  ConsumerProtocolAssignment,
  ConsumerProtocolSubscription,
  decodeMessage,
  encodeToBuffer,
  errorByCode,
  errorCodes,
  ProtocolError,
  zeroUuid,
} from '@odradek/protocol';
import { type GoldenScenario, promisesSettled, SimulatedWorld } from '@odradek/testing';
import { PartitionsInMemory } from '../coordinator/partitions-in-memory.fixture.ts';
import { MetadataCache } from '../metadata/metadata-cache.ts';
import type { JoinAnswer, SyncAnswer } from './classic-member.ts';
import { GroupCoordinator } from './group-coordinator.ts';
import { printGroupRecord, printTopics } from './group-record-text.fixture.ts';
import type { GroupSettings } from './group-settings.ts';

interface Client {
  memberId: string;
  generationId: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Options = ReadonlyMap<string, string>;

export class GroupScenario implements GoldenScenario {
  readonly #world = new SimulatedWorld({ seed: 1 });
  readonly #partitions = new PartitionsInMemory();
  readonly #clients = new Map<string, Client>();
  readonly #metadata = new MetadataCache('cluster');
  readonly #settings: Mutable<GroupSettings> = {
    initialRebalanceDelayMs: 3_000,
    minSessionTimeoutMs: 6_000,
    maxSessionTimeoutMs: 1_800_000,
    maxSize: 1_000,
    offsetsRetentionMs: 7 * 86_400_000,
    offsetsRetentionCheckIntervalMs: 600_000,
    offsetMetadataMaxBytes: 20,
    commitTimeoutMs: 5_000,
    hasConsumerProtocol: true,
    consumerMaxSize: 1_000,
    consumerAssignors: ['uniform', 'range'],
    migrationPolicy: 'bidirectional',
    regexRefreshIntervalMs: 600_000,
    consumerSessionTimeoutMs: () => 45_000,
    consumerHeartbeatIntervalMs: () => 5_000,
    consumerAssignmentIntervalMs: () => this.#assignmentIntervalMs,
  };
  #assignmentIntervalMs = 0;
  readonly #coordinator: GroupCoordinator;
  readonly #startMs = this.#world.clock.wallTimeMs();
  #leaderEpoch = 0;
  #nextId = 0;
  #output: string[] = [];

  private constructor() {
    this.#partitions.onAppend = (record) =>
      this.#say(`log ${this.#partitions.batchCount}: ${printGroupRecord(record, this.#startMs)}`);
    this.#coordinator = new GroupCoordinator({
      clock: this.#world.clock,
      timer: this.#world.timer,
      logger: this.#world.logger,
      partitions: this.#partitions,
      settings: this.#settings,
      metadata: () => this.#metadata.current,
      uuid: () => String(++this.#nextId),
      shortUuid: () => `m${++this.#nextId}`,
    });
  }

  static async open(): Promise<GroupScenario> {
    const scenario = new GroupScenario();
    scenario.#coordinator.start();
    await scenario.#coordinator.onElection(0, 0);
    return scenario;
  }

  close(): void {
    this.#coordinator.close();
  }

  async run(commands: readonly string[]): Promise<string> {
    for (const command of commands) {
      const [verb = '', ...words] = command.split(/\s+/);
      const options = new Map(words.flatMap((word) => (/^\w+=/.test(word) ? [splitAt(word, '=')] : [])));
      await this.#carryOut(
        verb,
        words.filter((word) => !/^\w+=/.test(word)),
        options,
      );
      await promisesSettled();
      await promisesSettled();
    }
    return this.#output.splice(0).join('\n') || 'nothing';
  }

  async #carryOut(verb: string, words: readonly string[], options: Options): Promise<void> {
    const [first = ''] = words;
    switch (verb) {
      case 'join':
        return this.#join(first, options);
      case 'sync':
        return this.#sync(first, options);
      case 'beat':
        return this.#beat(first, options);
      case 'leave':
        return this.#leave(words, options);
      case 'commit':
        return this.#commit(first, words.slice(1), options);
      case 'offsets':
        return this.#offsets(first, options);
      case 'delete':
        return this.#tell(`deleted ${first}`, this.#coordinator.delete(first));
      case 'forget':
        return this.#forget(first, words.slice(1));
      case 'describe':
        return this.#describe(first);
      case 'list':
        return this.#list();
      case 'advance':
        return this.#world.advance(milliseconds(first));
      case 'set':
        for (const [name, value] of options) this.#set(name, value);
        return;
      case 'drop-topic':
        return this.#coordinator.topicsDeleted(new Set([first]));
      case 'topic':
        return this.#setTopic(first, Number(words[1]));
      case 'hb':
        return this.#consumerHeartbeat(first, options);
      case 'describe-consumer':
        return this.#describeConsumer(first);
      case 'refuse':
        this.#partitions.refusal = new ProtocolError(errorCodes[first as keyof typeof errorCodes]);
        return;
      case 'accept':
        this.#partitions.refusal = null;
        return;
      case 'hold':
        this.#partitions.isHeld = true;
        return;
      case 'release':
        return this.#partitions.release();
      case 'lose':
        return this.#partitions.release(new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR));
      case 'resign':
        return this.#coordinator.onResignation(0);
      case 'hold-load':
        this.#partitions.isReplayHeld = true;
        return;
      case 'release-load':
        return this.#partitions.releaseReplay();
      case 'elect':
        void this.#coordinator.onElection(0, ++this.#leaderEpoch);
        return;
      default:
        throw new Error(`unknown command ${verb}`);
    }
  }

  #join(name: string, options: Options): void {
    const client = this.#client(name);
    const version = Number(options.get('v') ?? 5);
    const groupInstanceId = options.get('instance') ?? null;
    const type = options.get('type') ?? 'consumer';
    const protocols = ['range', 'roundrobin', 'sticky'].flatMap((protocol) => {
      const topics = options.get(protocol);
      return topics === undefined ? [] : [{ name: protocol, metadata: subscription(type, topics) }];
    });
    const request = {
      groupId: options.get('group') ?? 'g',
      sessionTimeoutMs: milliseconds(options.get('session') ?? '10s'),
      rebalanceTimeoutMs: version === 0 ? -1 : milliseconds(options.get('rebalance') ?? '60s'),
      memberId: options.get('id') ?? client.memberId,
      groupInstanceId,
      protocolType: type,
      protocols: options.get('none')
        ? []
        : protocols.length > 0
          ? protocols
          : [{ name: 'range', metadata: subscription(type, 't') }],
      reason: null,
    };
    const joined = this.#coordinator.join(request, {
      clientId: name,
      clientHost: '/127.0.0.1',
      requiresKnownMemberId: version >= 4 && groupInstanceId === null,
      supportsSkippingAssignment: version >= 9,
    });
    joined.then(
      (answer) => {
        if (answer.errorCode === errorCodes.NONE || answer.errorCode === errorCodes.MEMBER_ID_REQUIRED) {
          client.memberId = answer.memberId ?? '';
          client.generationId = answer.generationId ?? -1;
        }
        this.#say(`${name} joined: ${describeJoin(answer)}`);
      },
      (error: unknown) => this.#say(`${name} joined: ${nameOf(error)}`),
    );
  }

  #set(name: string, value: string): void {
    if (name === 'assignmentIntervalMs') this.#assignmentIntervalMs = milliseconds(value);
    else {
      const isNumber = /^-?\d+[smhd]?$/.test(value);
      (this.#settings as unknown as Record<string, unknown>)[name] = isNumber ? milliseconds(value) : value;
    }
  }

  #setTopic(name: string, count: number): void {
    const before = this.#metadata.current.topic(name)?.partitions.length ?? 0;
    const partitionStates = Array.from({ length: Math.max(count, before) }, (_, partitionIndex) => ({
      partitionIndex,
      controllerEpoch: 1,
      // -2: the partition is being deleted.
      leader: partitionIndex < count ? 0 : -2,
      leaderEpoch: 0,
      isr: [0],
      zkVersion: 0,
      replicas: [0],
      offlineReplicas: [],
    }));
    this.#metadata.update({
      controllerId: 0,
      controllerEpoch: 1,
      topicStates: [{ topicName: name, topicId: idOf(name), partitionStates }],
      ungroupedPartitionStates: [],
      liveBrokers: [{ id: 0, rack: null, endpoints: [] }],
    });
    if (before === 0) this.#coordinator.topicsCreated();
  }

  #consumerHeartbeat(name: string, options: Options): void {
    const client = this.#client(name);
    const memberEpoch = Number(options.get('epoch') ?? client.generationId);
    const isJoining = memberEpoch === 0;
    const owned = options.get('owned') ?? (isJoining ? '' : undefined);
    const request = {
      groupId: options.get('group') ?? 'g',
      memberId: options.get('id') ?? (client.memberId || name),
      memberEpoch,
      instanceId: options.get('instance') ?? null,
      rackId: null,
      rebalanceTimeoutMs: options.has('timeout') || isJoining ? milliseconds(options.get('timeout') ?? '60s') : -1,
      subscribedTopicNames: options.has('topics') ? (options.get('topics') ?? '').split(',').filter(Boolean) : null,
      subscribedTopicRegex: options.get('regex') ?? null,
      serverAssignor: options.get('assignor') ?? null,
      topicPartitions:
        owned === undefined ? null : partitionsOf(owned).map(({ topic, partitions }) => ({ topicId: idOf(topic), partitions })),
    };
    const context = { apiVersion: Number(options.get('v') ?? 1), clientId: name, clientHost: '/127.0.0.1' };
    this.#coordinator.consumerHeartbeat(request, context).then(
      ({ memberId, memberEpoch: epoch, assignment }) => {
        client.memberId = memberId ?? '';
        client.generationId = epoch ?? -1;
        const given = assignment == null ? 'as before' : printTopics(assignment.topicPartitions ?? []);
        this.#say(`${name}: epoch ${epoch}, ${given}`);
      },
      (error: unknown) => this.#say(`${name}: ${nameOf(error)}`),
    );
  }

  #describeConsumer(groupId: string): void {
    this.#coordinator.describeConsumer(groupId).then(
      (group) => {
        if (group.errorCode !== 0) return this.#say(`${groupId}: ${errorByCode(group.errorCode ?? 0).name}`);
        this.#say(
          `${groupId} is ${group.groupState}, epoch ${group.groupEpoch}, assigned ${group.assignmentEpoch} by ${group.assignorName}`,
        );
        for (const member of group.members ?? []) {
          const subscription = [...(member.subscribedTopicNames ?? []), member.subscribedTopicRegex ?? '']
            .filter(Boolean)
            .join(',');
          const isClassic = member.memberType === 0 ? ' classic' : '';
          this.#say(
            `  ${member.memberId}${isClassic} epoch ${member.memberEpoch} of "${subscription}" has ${printTopics(member.assignment?.topicPartitions ?? [])}, target ${printTopics(member.targetAssignment?.topicPartitions ?? [])}`,
          );
        }
      },
      (error: unknown) => this.#say(`${groupId}: ${nameOf(error)}`),
    );
  }

  #sync(name: string, options: Options): void {
    const client = this.#client(name);
    const assignments = [...options].filter(([key]) => this.#clients.has(key));
    const request = {
      groupId: options.get('group') ?? 'g',
      generationId: Number(options.get('from') ?? client.generationId),
      memberId: options.get('id') ?? client.memberId,
      groupInstanceId: options.get('instance') ?? null,
      protocolType: options.get('type') ?? null,
      protocolName: options.get('protocol') ?? null,
      assignments: assignments.map(([key, text]) => ({ memberId: this.#client(key).memberId, assignment: assignment(text) })),
    };
    this.#coordinator.sync(request).then(
      (answer) => this.#say(`${name} synced: ${describeSync(answer)}`),
      (error: unknown) => this.#say(`${name} synced: ${nameOf(error)}`),
    );
  }

  #beat(name: string, options: Options): void {
    const client = this.#client(name);
    const request = {
      groupId: options.get('group') ?? 'g',
      generationId: Number(options.get('from') ?? client.generationId),
      memberId: options.get('id') ?? client.memberId,
      groupInstanceId: options.get('instance') ?? null,
    };
    this.#coordinator.heartbeat(request).then(
      (code) => this.#say(`${name} beat: ${errorByCode(code).name}`),
      (error: unknown) => this.#say(`${name} beat: ${nameOf(error)}`),
    );
  }

  #leave(names: readonly string[], options: Options): void {
    const instance = options.get('instance') ?? null;
    const members = names.map((name) => ({
      memberId: options.get('id') ?? this.#client(name).memberId,
      groupInstanceId: instance,
      reason: null,
    }));
    if (names.length === 0) members.push({ memberId: '', groupInstanceId: instance, reason: null });
    this.#coordinator.leave(options.get('group') ?? 'g', members).then(
      (answer) =>
        this.#say(
          `left: ${(answer.members ?? [])
            .map((member) => `${member.memberId || member.groupInstanceId} ${errorByCode(member.errorCode ?? 0).name}`)
            .join(', ')}`,
        ),
      (error: unknown) => this.#say(`left: ${nameOf(error)}`),
    );
  }

  #commit(name: string, words: readonly string[], options: Options): void {
    const client = name === '-' ? { memberId: '', generationId: -1 } : this.#client(name);
    const committed = this.#coordinator.commit({
      groupId: options.get('group') ?? 'g',
      apiVersion: Number(options.get('v') ?? 8),
      memberId: options.get('id') ?? client.memberId,
      groupInstanceId: options.get('instance') ?? null,
      generationId: Number(options.get('from') ?? client.generationId),
      retentionTimeMs: milliseconds(options.get('retention') ?? '-1'),
      topics: words.map((word) => {
        const [partition, offset] = splitAt(word, ':');
        const [topic, index] = splitAt(partition, '-');
        return {
          topic,
          topicId: this.#metadata.current.topic(topic)?.id ?? zeroUuid,
          partitions: [
            {
              partition: Number(index),
              offset: Number(offset),
              leaderEpoch: -1,
              metadata: options.get('meta') ?? null,
              timestampMs: options.has('at') ? this.#startMs + milliseconds(options.get('at') ?? '') : -1,
            },
          ],
        };
      }),
    });
    committed.then(
      ({ topics }) =>
        this.#say(
          `${name} committed: ${(topics ?? [])
            .flatMap((topic) =>
              (topic.partitions ?? []).map((p) => `${topic.name}-${p.partitionIndex} ${errorByCode(p.errorCode ?? 0).name}`),
            )
            .join(', ')}`,
        ),
      (error: unknown) => this.#say(`${name} committed: ${nameOf(error)}`),
    );
  }

  #offsets(groupId: string, options: Options): void {
    const query = {
      groupId,
      memberId: options.get('id') ?? null,
      memberEpoch: Number(options.get('epoch') ?? -1),
      topics: null,
      requireStable: options.get('stable') === 'yes',
    };
    this.#coordinator.fetchOffsets(query).then(
      ({ topics }) =>
        this.#say(
          `offsets of ${groupId}: ${
            topics
              .flatMap(({ topic, partitions }) =>
                partitions.map(({ partition, offset, errorCode }) => {
                  const metadata = offset === undefined || offset.metadata === '' ? '' : ` "${offset.metadata}"`;
                  return `${topic}-${partition} ${errorCode === 0 ? offset?.offset : errorByCode(errorCode).name}${metadata}`;
                }),
              )
              .join(', ') || 'none'
          }`,
        ),
      (error: unknown) => this.#say(`offsets of ${groupId}: ${nameOf(error)}`),
    );
  }

  #forget(groupId: string, partitions: readonly string[]): void {
    const topics = new Map<string, number[]>();
    for (const name of partitions) {
      const [topic, partition] = splitAt(name, '-');
      topics.set(topic, [...(topics.get(topic) ?? []), Number(partition)]);
    }
    this.#coordinator.deleteOffsets(groupId, topics).then(
      (results) =>
        this.#say(
          `forgot: ${[...results]
            .flatMap(([topic, codes]) => [...codes].map(([partition, code]) => `${topic}-${partition} ${errorByCode(code).name}`))
            .join(', ')}`,
        ),
      (error: unknown) => this.#say(`forgot: ${nameOf(error)}`),
    );
  }

  #list(): void {
    this.#coordinator.list().then(
      (listed) => {
        const groups = listed.map(
          ({ groupId, groupType, groupState, protocolType }) => `${groupId} ${groupType} ${groupState} "${protocolType}"`,
        );
        this.#say(`listed: ${groups.join('; ') || 'no groups'}`);
      },
      (error: unknown) => this.#say(`listed: ${nameOf(error)}`),
    );
  }

  #describe(groupId: string): void {
    this.#coordinator.describe(groupId).then(
      (group) => {
        const members = (group.members ?? []).map(
          (member) =>
            `${member.memberId}${member.groupInstanceId == null ? '' : `/${member.groupInstanceId}`} ${printAssignment(member.memberAssignment ?? Buffer.alloc(0))}`,
        );
        const problem = group.errorCode === 0 ? '' : ` (${errorByCode(group.errorCode ?? 0).name})`;
        this.#say(
          `${groupId} is ${group.groupState}${problem}, ${group.protocolType || '-'}/${group.protocolData || '-'}: ${members.join(', ') || 'nobody'}`,
        );
      },
      (error: unknown) => this.#say(`${groupId}: ${nameOf(error)}`),
    );
  }

  #tell(done: string, promise: Promise<void>): void {
    promise.then(
      () => this.#say(done),
      (error: unknown) => this.#say(`not ${done}: ${nameOf(error)}`),
    );
  }

  #client(name: string): Client {
    let client = this.#clients.get(name);
    if (client === undefined) this.#clients.set(name, (client = { memberId: '', generationId: -1 }));
    return client;
  }

  #say(line: string): void {
    this.#output.push(`${(this.#world.clock.wallTimeMs() - this.#startMs) / 1000}s ${line}`);
  }
}

/** A topic's id spells its name. */
function idOf(topic: string): string {
  return topic.padEnd(22, 'A');
}

function describeJoin(answer: JoinAnswer): string {
  if (answer.errorCode !== 0) return `${errorByCode(answer.errorCode ?? 0).name} ${answer.memberId || '-'}`;
  const members = (answer.members ?? []).map(({ memberId, groupInstanceId }) =>
    groupInstanceId == null ? memberId : `${memberId}/${groupInstanceId}`,
  );
  const skips = answer.skipAssignment === true ? ', skip the assignment' : '';
  return `generation ${answer.generationId} as ${answer.memberId}, ${answer.protocolType}/${answer.protocolName}, leader ${answer.leader}, members [${members.join(' ')}]${skips}`;
}

function describeSync(answer: SyncAnswer): string {
  if (answer.errorCode !== 0) return errorByCode(answer.errorCode ?? 0).name;
  return `${answer.protocolType}/${answer.protocolName} ${printAssignment(answer.assignment ?? Buffer.alloc(0))}`;
}

function nameOf(error: unknown): string {
  return error instanceof ProtocolError ? `throws ${errorByCode(error.code).name}` : String(error);
}

/** 10s, 5m, 7d, or plain milliseconds. */
function milliseconds(text: string): number {
  const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const [, amount = '0', unit = ''] = /^(-?\d+)([smhd]?)$/.exec(text) ?? [];
  return Number(amount) * (units[unit] ?? 1);
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.lastIndexOf(separator);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** `t,u@t:0,1`: subscribed to t and u, and still has two partitions of t. */
function subscription(type: string, text: string): Buffer {
  if (type !== 'consumer' || text === 'garbage') return Buffer.from(text);
  const [topics = '', owned = ''] = text.split('@');
  const value = { topics: topics.split(','), ownedPartitions: partitionsOf(owned) };
  return Buffer.concat([Buffer.from([0, 1]), encodeToBuffer(ConsumerProtocolSubscription, 1, value)]);
}

/** `@t:0,1;u:0` as consumers assign, or any other text as it stands. */
function assignment(text: string): Buffer {
  if (!text.startsWith('@')) return Buffer.from(text);
  const value = { assignedPartitions: partitionsOf(text.slice(1)) };
  return Buffer.concat([Buffer.from([0, 1]), encodeToBuffer(ConsumerProtocolAssignment, 1, value)]);
}

function printAssignment(bytes: Uint8Array): string {
  if (bytes[0] !== 0) return `"${Buffer.from(bytes)}"`;
  const { assignedPartitions } = decodeMessage(ConsumerProtocolAssignment, 1, Buffer.from(bytes).subarray(2));
  return printTopics(assignedPartitions.map(({ topic, partitions }) => ({ topicId: topic, partitions })));
}

function partitionsOf(text: string): { readonly topic: string; readonly partitions: number[] }[] {
  return text
    .split(';')
    .filter(Boolean)
    .map((each) => {
      const [topic = '', partitions = ''] = each.split(':');
      return { topic, partitions: partitions.split(',').map(Number) };
    });
}
