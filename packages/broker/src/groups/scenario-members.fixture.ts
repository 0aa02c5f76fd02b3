// The members of groups in golden scripts: clients of both protocols, by name, each with the id, generation or epoch that it was
// given last.

import { errorByCode, errorCodes, zeroUuid } from '@odradek/protocol';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import type { GroupCoordinator } from './group-coordinator.ts';
import { printTopics } from './group-record-text.fixture.ts';
import {
  assignment,
  describeJoin,
  describeSync,
  idOf,
  milliseconds,
  nameOf,
  type Options,
  partitionsOf,
  splitAt,
  subscription,
} from './scenario-text.fixture.ts';

interface Client {
  memberId: string;
  generationId: number;
}

export interface ScenarioMembersParts {
  readonly coordinator: GroupCoordinator;
  readonly metadata: MetadataCache;
  readonly startMs: number;
  /** Told of every answer. */
  readonly say: (line: string) => void;
}

export class ScenarioMembers {
  readonly #parts: ScenarioMembersParts;
  readonly #clients = new Map<string, Client>();

  constructor(parts: ScenarioMembersParts) {
    this.#parts = parts;
  }

  join(name: string, options: Options): void {
    const client = this.#client(name);
    const version = Number(options.get('v') ?? 5);
    const groupInstanceId = options.get('instance') ?? null;
    const type = options.get('type') ?? 'consumer';
    const protocols = ['range', 'roundrobin', 'sticky'].flatMap((protocol) => {
      const topics = options.get(protocol);
      return topics === undefined ? [] : [{ name: protocol, metadata: subscription(type, topics) }];
    });
    // One that comes first, and whose metadata is not a subscription.
    if (options.has('odd')) protocols.unshift({ name: 'odd', metadata: Buffer.alloc(1) });
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
    const joined = this.#parts.coordinator.join(request, {
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
        this.#parts.say(`${name} joined: ${describeJoin(answer)}`);
      },
      (error: unknown) => this.#parts.say(`${name} joined: ${nameOf(error)}`),
    );
  }

  consumerHeartbeat(name: string, options: Options): void {
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
    this.#parts.coordinator.consumerHeartbeat(request, context).then(
      ({ memberId, memberEpoch: epoch, assignment, heartbeatIntervalMs = 0 }) => {
        client.memberId = memberId ?? '';
        client.generationId = epoch ?? -1;
        const given = assignment == null ? 'as before' : printTopics(assignment.topicPartitions ?? []);
        const isLeaving = heartbeatIntervalMs === 0;
        const again = isLeaving || heartbeatIntervalMs === 5000 ? '' : `, again in ${heartbeatIntervalMs} ms`;
        this.#parts.say(`${name}: epoch ${epoch}, ${given}${again}`);
      },
      (error: unknown) => this.#parts.say(`${name}: ${nameOf(error)}`),
    );
  }

  sync(name: string, options: Options): void {
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
    this.#parts.coordinator.sync(request).then(
      (answer) => this.#parts.say(`${name} synced: ${describeSync(answer)}`),
      (error: unknown) => this.#parts.say(`${name} synced: ${nameOf(error)}`),
    );
  }

  beat(name: string, options: Options): void {
    const client = this.#client(name);
    const request = {
      groupId: options.get('group') ?? 'g',
      generationId: Number(options.get('from') ?? client.generationId),
      memberId: options.get('id') ?? client.memberId,
      groupInstanceId: options.get('instance') ?? null,
    };
    this.#parts.coordinator.heartbeat(request).then(
      (code) => this.#parts.say(`${name} beat: ${errorByCode(code).name}`),
      (error: unknown) => this.#parts.say(`${name} beat: ${nameOf(error)}`),
    );
  }

  leave(names: readonly string[], options: Options): void {
    const instance = options.get('instance') ?? null;
    const members = names.map((name) => ({
      memberId: options.get('id') ?? this.#client(name).memberId,
      groupInstanceId: instance,
      reason: null,
    }));
    if (names.length === 0) members.push({ memberId: '', groupInstanceId: instance, reason: null });
    this.#parts.coordinator.leave(options.get('group') ?? 'g', members).then(
      (answer) =>
        this.#parts.say(
          `left: ${(answer.members ?? [])
            .map((member) => `${member.memberId || member.groupInstanceId} ${errorByCode(member.errorCode ?? 0).name}`)
            .join(', ')}`,
        ),
      (error: unknown) => this.#parts.say(`left: ${nameOf(error)}`),
    );
  }

  commit(name: string, words: readonly string[], options: Options): void {
    const client = name === '-' ? { memberId: '', generationId: -1 } : this.#client(name);
    const committed = this.#parts.coordinator.commit({
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
          topicId: this.#parts.metadata.current.topic(topic)?.id ?? zeroUuid,
          partitions: [
            {
              partition: Number(index),
              offset: Number(offset),
              leaderEpoch: -1,
              metadata: options.get('meta') ?? null,
              timestampMs: options.has('at') ? this.#parts.startMs + milliseconds(options.get('at') ?? '') : -1,
            },
          ],
        };
      }),
    });
    committed.then(
      ({ topics }) =>
        this.#parts.say(
          `${name} committed: ${(topics ?? [])
            .flatMap((topic) =>
              (topic.partitions ?? []).map((p) => `${topic.name}-${p.partitionIndex} ${errorByCode(p.errorCode ?? 0).name}`),
            )
            .join(', ')}`,
        ),
      (error: unknown) => this.#parts.say(`${name} committed: ${nameOf(error)}`),
    );
  }

  #client(name: string): Client {
    let client = this.#clients.get(name);
    if (client === undefined) this.#clients.set(name, (client = { memberId: '', generationId: -1 }));
    return client;
  }
}
