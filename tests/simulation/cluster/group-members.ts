// Members of a consumer group that read the load and commit how far they are. They join, are given partitions, leave, and now and then
// stop for longer than the group waits for them, to go on in the name of a generation that is over.

import assert from 'node:assert/strict';
import {
  ConsumerProtocolAssignment,
  ConsumerProtocolSubscription,
  decodeMessage,
  encodeToBuffer,
  errorByCode,
  errorCodes,
  FetchRequest,
  FetchResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  iterateBatches,
  JoinGroupRequest,
  JoinGroupResponse,
  LeaveGroupRequest,
  LeaveGroupResponse,
  type LogRecord,
  type Message,
  OffsetCommitRequest,
  OffsetCommitResponse,
  SyncGroupRequest,
  SyncGroupResponse,
} from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import type { ClusterClient } from './cluster-client.ts';
import { atWork, ensureNone, fetchCommitted, loadPartitions, loadTopic, pause, type Work } from './cluster-load.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

export const memberGroup = 'members';
const members = 3;
const sessionTimeoutMs = 6_000;
const longestNapMs = 9_000;
/** Errors that tell a member that its generation, or itself, is no more. */
const generationOver: readonly string[] = ['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID'];

/** A record that a member was given. */
export interface ReadRecord {
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly value: string;
}

export class GroupMembers {
  /** By partition: the largest offset of which any member was told that it is committed. */
  readonly committed = new Map<number, number>();
  /** How many records were read, and how many generations began: a run in which nobody gets anywhere proves nothing. */
  readonly progress = { records: 0, generations: 0 };
  readonly #cluster: SimulatedCluster;
  /** Called with everything that a member reads. */
  readonly #onRead: (record: ReadRecord) => void;
  readonly #ended: Promise<unknown>;
  #mayStop = false;

  constructor(cluster: SimulatedCluster, seed: number, onRead: (record: ReadRecord) => void) {
    this.#cluster = cluster;
    this.#onRead = onRead;
    const random = new SeededRandom(seed);
    const mayStop = (): boolean => this.#mayStop;
    const names = Array.from({ length: members }, (_, id) => `member-${id}`);
    this.#ended = Promise.all(names.map((name) => atWork(cluster, name, random, mayStop, (work) => this.#take(work))));
    // One that fails while something else is awaited is looked at when all have ended.
    this.#ended.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#mayStop = true;
    await this.#cluster.world.run(this.#ended, 600_000);
  }

  /** Once all is well again: nothing that a member was told is lost. */
  async checkCommitted(client: ClusterClient): Promise<void> {
    for (const [partition, offset] of this.committed) {
      const found = await fetchCommitted(client, memberGroup, { partition });
      assert.ok(found >= offset, `${offset} was committed in partition ${partition}, and ${found} is left`);
    }
  }

  /** Takes part, in one generation after the other. */
  async #take(work: Work): Promise<void> {
    const membership = new Membership(work);
    while (!work.mayStop()) {
      const partitions = await membership.join();
      if (partitions === undefined) continue;
      this.progress.generations += 1;
      await this.#work(work, membership, partitions);
      if (work.random.nextInt(3) === 0) await membership.leave();
    }
    await membership.leave();
  }

  /** Until the generation is over, or for a while. */
  async #work(work: Work, membership: Membership, partitions: readonly number[]): Promise<void> {
    const positions = new Map<number, number>();
    for (const partition of partitions) {
      const told = this.committed.get(partition) ?? -1;
      const committed = await fetchCommitted(work.client, memberGroup, { partition, atLeast: told });
      assert.ok(committed >= told, `${told} was committed in partition ${partition}, and a member is given ${committed}`);
      positions.set(partition, Math.max(0, committed));
    }
    for (let rounds = 5 + work.random.nextInt(40); rounds > 0 && !work.mayStop(); rounds--) {
      if (!(await membership.heartbeat())) return;
      for (const [partition, position] of positions) {
        const next = await this.#read(work, partition, position);
        if (work.random.nextInt(100) === 0) await nap(work);
        if (next === position) continue;
        const told = this.committed.get(partition) ?? 0;
        if (!(await membership.commit(partition, next))) return;
        assert.ok(next >= told, `${next} was accepted for partition ${partition} after ${told}`);
        this.committed.set(partition, Math.max(next, this.committed.get(partition) ?? 0));
        positions.set(partition, next);
      }
      await pause(work.world, work.random);
    }
  }

  /** Answers where to read on: the same where nothing could be read. */
  async #read({ client }: Work, partition: number, position: number): Promise<number> {
    const topics = [{ topic: loadTopic, partitions: [{ partition, fetchOffset: position, partitionMaxBytes: 2_048 }] }];
    const request = { replicaId: -1, maxWaitMs: 100, minBytes: 1, maxBytes: 65_536, isolationLevel: 0, topics };
    const target = { leaderOf: { topic: loadTopic, partition } };
    const answer = await client.tryOnce(target, [FetchRequest, FetchResponse, 11], request);
    const data = answer?.responses[0]?.partitions[0];
    if (data === undefined || data.errorCode !== errorCodes.NONE) {
      client.forget(target);
      // A leader that is new may not know yet that what its predecessor had committed is committed.
      const isKnown =
        data === undefined || errorByCode(data.errorCode).isRetriable || data.errorCode === errorCodes.OFFSET_OUT_OF_RANGE;
      assert.ok(isKnown, `a member was refused with ${errorByCode(data?.errorCode ?? 0).name}`);
      return position;
    }
    let next = position;
    for (const batch of iterateBatches(data.records ?? Buffer.alloc(0))) {
      for (const record of batch.records()) if (record.offset >= position) next = this.#took(partition, record);
    }
    return next;
  }

  #took(partition: number, { offset, key, value }: LogRecord): number {
    this.#onRead({ partition, offset, key: String(key), value: String(value) });
    this.progress.records += 1;
    return offset + 1;
  }
}

/** Longer than the group waits, at times. */
function nap({ world, random }: Work): Promise<void> {
  return new Promise((resolve) => world.timer.schedule(random.nextInt(longestNapMs), resolve));
}

/** The group as one member knows it. */
class Membership {
  readonly #work: Work;
  readonly #target = { coordinatorOf: memberGroup };
  #memberId = '';
  #generationId = -1;

  constructor(work: Work) {
    this.#work = work;
  }

  /** Answers the partitions that this member is given; undefined: it has to join again. */
  async join(): Promise<readonly number[] | undefined> {
    const { client, mayStop } = this.#work;
    const metadata = versioned(encodeToBuffer(ConsumerProtocolSubscription, 0, { topics: [loadTopic] }));
    const request = {
      groupId: memberGroup,
      sessionTimeoutMs,
      rebalanceTimeoutMs: sessionTimeoutMs,
      memberId: this.#memberId,
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata }],
    };
    const versions = [JoinGroupRequest, JoinGroupResponse, 4] as const;
    const joined = await client.askWhile(
      () => !mayStop(),
      this.#target,
      versions,
      request,
      ({ errorCode }) => errorCode,
    );
    if (joined === undefined) return undefined;
    if (joined.errorCode === errorCodes.MEMBER_ID_REQUIRED) {
      this.#memberId = joined.memberId;
      return undefined;
    }
    if (!this.#goesOn(joined.errorCode)) return undefined;
    this.#memberId = joined.memberId;
    this.#generationId = joined.generationId;
    return this.#sync(joined);
  }

  async #sync({ leader, members: all }: Message<typeof JoinGroupResponse>): Promise<readonly number[] | undefined> {
    const ids = leader === this.#memberId ? all.map(({ memberId }) => memberId).sort() : [];
    const assignments = ids.map((memberId, index) => {
      const partitions = Array.from({ length: loadPartitions }, (_, each) => each).filter((each) => each % ids.length === index);
      const assignedPartitions = [{ topic: loadTopic, partitions }];
      return { memberId, assignment: versioned(encodeToBuffer(ConsumerProtocolAssignment, 0, { assignedPartitions })) };
    });
    const { client, mayStop } = this.#work;
    const request = { ...this.#identity, assignments };
    const versions = [SyncGroupRequest, SyncGroupResponse, 3] as const;
    const synced = await client.askWhile(
      () => !mayStop(),
      this.#target,
      versions,
      request,
      ({ errorCode }) => errorCode,
    );
    if (synced === undefined || !this.#goesOn(synced.errorCode)) return undefined;
    const { assignedPartitions } = decodeMessage(ConsumerProtocolAssignment, 0, synced.assignment.subarray(2));
    return assignedPartitions.flatMap(({ partitions }) => partitions);
  }

  /** False: the generation is over. */
  async heartbeat(): Promise<boolean> {
    const versions = [HeartbeatRequest, HeartbeatResponse, 3] as const;
    const { errorCode } = await this.#work.client.ask(this.#target, versions, this.#identity, (answer) => answer.errorCode);
    return this.#goesOn(errorCode);
  }

  /** False: the generation is over, and the offset was not taken. */
  async commit(partition: number, committedOffset: number): Promise<boolean> {
    const { groupId, memberId, generationId: generationIdOrMemberEpoch } = this.#identity;
    const topics = [{ name: loadTopic, partitions: [{ partitionIndex: partition, committedOffset, committedMetadata: '' }] }];
    const request = { groupId, memberId, generationIdOrMemberEpoch, topics };
    const versions = [OffsetCommitRequest, OffsetCommitResponse, 7] as const;
    const errorOf = (answer: Message<typeof OffsetCommitResponse>): number => answer.topics[0]?.partitions[0]?.errorCode ?? 0;
    return this.#goesOn(errorOf(await this.#work.client.ask(this.#target, versions, request, errorOf)));
  }

  /** Whether or not anybody hears it. */
  async leave(): Promise<void> {
    const { groupId, memberId } = this.#identity;
    if (memberId === '') return;
    this.#memberId = '';
    await this.#work.client.tryOnce(this.#target, [LeaveGroupRequest, LeaveGroupResponse, 2], { groupId, memberId });
  }

  get #identity() {
    return { groupId: memberGroup, memberId: this.#memberId, generationId: this.#generationId };
  }

  #goesOn(errorCode: number): boolean {
    const { name } = errorByCode(errorCode);
    if (name === 'UNKNOWN_MEMBER_ID') this.#memberId = '';
    if (!generationOver.includes(name)) ensureNone(errorCode);
    return errorCode === errorCodes.NONE;
  }
}

/** With the version, 0, before it. */
function versioned(body: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(2), body]);
}
