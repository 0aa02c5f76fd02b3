// The groups of one coordinator in simulated time, driven by the commands of the scripts in testdata:
//
//   join a [v=9] [id=…] [instance=i] [session=10s] [rebalance=60s] [type=consumer] [range=t1,t2] [roundrobin=t1] [odd=yes]
//   sync a [a=text b=text]       the leader's assignments, by client; from=2 speaks of another generation
//   beat a, leave a b, leave instance=i
//   commit a t-0=5 [meta=…] [gen=…] [v=9]; commit - t-0=5 without being a member
//   offsets g; delete g; forget g t-0; describe g; list
//   advance 10s; set-clock -1h (the wall clock goes back); set maxSize=2; expire; drop-topic t [ID]
//   refuse CODE | accept; hold | release | lose; resign; elect
//   topic t 4 [id=ID]            there is such a topic now, or it has so many partitions; topic t 0: it is gone
//   hb a [epoch=0] [topics=t,u] [regex=…] [owned=t:0,1;u:0] [instance=i] [assignor=range] [timeout=60s] [v=1] [id=…]
//   describe-consumer g
//
// A client keeps the member id that it was given, the generation that it joined, and the epoch to which it came. All of them are
// in the group g unless `group=` says otherwise.

import { errorByCode, errorCodes, ProtocolError } from '@odradek/protocol';
import { type GoldenScenario, promisesSettled, SimulatedWorld } from '@odradek/testing';
import { PartitionsInMemory } from '../coordinator/partitions-in-memory.fixture.ts';
import { MetadataCache } from '../metadata/metadata-cache.ts';
import { GroupCoordinator } from './group-coordinator.ts';
import { printGroupRecord, printTopics } from './group-record-text.fixture.ts';
import type { GroupSettings } from './group-settings.ts';
import { ScenarioMembers } from './scenario-members.fixture.ts';
import { idOf, milliseconds, nameOf, type Options, printAssignment, splitAt } from './scenario-text.fixture.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class GroupScenario implements GoldenScenario {
  readonly #world = new SimulatedWorld({ seed: 1 });
  readonly #partitions = new PartitionsInMemory();
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
  readonly #members: ScenarioMembers;
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
    this.#members = new ScenarioMembers({
      coordinator: this.#coordinator,
      metadata: this.#metadata,
      startMs: this.#startMs,
      say: (line) => this.#say(line),
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
        return this.#members.join(first, options);
      case 'sync':
        return this.#members.sync(first, options);
      case 'beat':
        return this.#members.beat(first, options);
      case 'leave':
        return this.#members.leave(words, options);
      case 'commit':
        return this.#members.commit(first, words.slice(1), options);
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
      case 'set-clock':
        return this.#world.clock.shiftWallTime(milliseconds(first));
      case 'set':
        for (const [name, value] of options) this.#set(name, value);
        return;
      case 'drop-topic':
        return this.#coordinator.topicsDeleted(new Map([[first, idOf(words[1] ?? first)]]));
      case 'topic':
        return this.#setTopic(first, Number(words[1]), idOf(options.get('id') ?? first));
      case 'hb':
        return this.#members.consumerHeartbeat(first, options);
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

  #set(name: string, value: string): void {
    if (name === 'assignmentIntervalMs') this.#assignmentIntervalMs = milliseconds(value);
    else {
      const isNumber = /^-?\d+[smhd]?$/.test(value);
      (this.#settings as unknown as Record<string, unknown>)[name] = isNumber ? milliseconds(value) : value;
    }
  }

  #setTopic(name: string, count: number, topicId: string): void {
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
      topicStates: [{ topicName: name, topicId, partitionStates }],
      ungroupedPartitionStates: [],
      liveBrokers: [{ id: 0, rack: null, endpoints: [] }],
    });
    if (before === 0) this.#coordinator.topicsCreated();
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

  #say(line: string): void {
    this.#output.push(`${(this.#world.clock.wallTimeMs() - this.#startMs) / 1000}s ${line}`);
  }
}
