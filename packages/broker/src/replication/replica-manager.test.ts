import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { errorCodes, type LeaderAndIsrRequest, ProtocolError, type StopReplicaRequest, zeroUuid } from '@odradek/protocol';
import { createLogger, createSystemWorld, type World } from '@odradek/runtime';
import { defaultLogConfig, type LogConfig, LogManager } from '@odradek/storage';
import { updateMetadataHandler } from '../handlers/06-update-metadata.ts';
import { batchOf } from '../handlers/broker-requests.fixture.ts';
import { MetadataCache, type MetadataUpdate } from '../metadata/metadata-cache.ts';
import { enoughToFetch } from '../purgatory/delayed-fetch.ts';
import { type AwaitedAppend, replicated } from '../purgatory/delayed-produce.ts';
import { callHandler } from '../requests/call-handler.fixture.ts';
import type { KnownOffsets, Partition } from './partition.ts';
import type { InSyncAnswer, InSyncProposal } from './reign.ts';
import { ReplicaManager } from './replica-manager.ts';

const self = 1;
const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';

let directory: string;
let world: World;
let logManager: LogManager;
let replicaManager: ReplicaManager;
let config: LogConfig;
let metadataCache: MetadataCache;
/** What was asked of the controller, and how to answer. */
let proposals: (InSyncProposal & { readonly answer: (answer: InSyncAnswer) => void })[];
/** What the fetchers were told. */
let orders: string[];
let maxLagMs: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'odradek-test-'));
  world = { ...createSystemWorld(), logger: createLogger({ level: 'fatal', write: () => undefined }) };
  config = defaultLogConfig;
  proposals = [];
  orders = [];
  maxLagMs = 30_000;
  metadataCache = new MetadataCache('cluster');
  metadataCache.update(brokersAlive(1, 2, 3));
  logManager = LogManager.open({ world, directories: [directory], topicLogConfig: () => config });
  logManager.claim(self, 'cluster');
  await logManager.load();
  replicaManager = new ReplicaManager({
    brokerId: self,
    clock: world.clock,
    timer: world.timer,
    logger: world.logger,
    logManager,
    metadataCache,
    loadTopicConfigs: async () => undefined,
    topicLogConfig: () => config,
    maxReplicaLagMs: () => maxLagMs,
    brokerEpoch: () => 7,
    proposeInSync: (proposal) => {
      const answer = Promise.withResolvers<InSyncAnswer>();
      proposals.push({ ...proposal, answer: answer.resolve });
      return answer.promise;
    },
    fetchers: {
      follow: (partitions) => orders.push(...[...partitions].map(({ index, leader }) => `follow ${leader} in ${index}`)),
      unfollow: (partitions) => orders.push(...[...partitions].map(({ index }) => `leave ${index}`)),
      logChanged: ({ index }) => orders.push(`look at ${index}`),
    },
  });
});
afterEach(async () => {
  replicaManager.close();
  await logManager.close();
  world.timer.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Order {
  readonly leader?: number;
  readonly leaderEpoch?: number;
  readonly isr?: readonly number[];
  readonly replicas?: readonly number[];
  readonly controllerEpoch?: number;
  readonly topicId?: string;
  readonly partitionEpoch?: number;
}

/** What the controller would send about `t-0`. */
function order({
  leader = self,
  leaderEpoch = 0,
  isr = [self],
  replicas = isr,
  controllerEpoch = 1,
  topicId: id = topicId,
  partitionEpoch = leaderEpoch,
}: Order): LeaderAndIsrRequest {
  const state = {
    topicName: '',
    partitionIndex: 0,
    controllerEpoch,
    leader,
    leaderEpoch,
    isr,
    partitionEpoch,
    replicas,
    addingReplicas: [],
    removingReplicas: [],
    isNew: true,
    leaderRecoveryState: 0,
  };
  return {
    controllerId: 9,
    isKRaftController: false,
    controllerEpoch,
    brokerEpoch: -1,
    type: 0,
    ungroupedPartitionStates: [],
    topicStates: [{ topicName: 't', topicId: id, partitionStates: [state] }],
    liveLeaders: [],
  };
}

async function obey(each: Order): Promise<{ readonly whole: number; readonly partition: number | undefined }> {
  const outcome = await replicaManager.becomeLeaderOrFollower(order(each));
  return { whole: outcome.errorCode, partition: outcome.topics[0]?.partitionErrors[0]?.errorCode };
}

async function lead(each: Order = {}): Promise<Partition> {
  assert.deepEqual(await obey(each), { whole: errorCodes.NONE, partition: errorCodes.NONE });
  return replicaManager.partition('t', 0);
}

function stop(leaderEpoch: number, deletePartition: boolean): number | undefined {
  const request: StopReplicaRequest = {
    controllerId: 9,
    isKRaftController: false,
    controllerEpoch: 1,
    brokerEpoch: -1,
    deletePartitions: false,
    ungroupedPartitions: [],
    topics: [],
    topicStates: [{ topicName: 't', partitionStates: [{ partitionIndex: 0, leaderEpoch, deletePartition }] }],
  };
  return replicaManager.stopReplicas(request).partitionErrors[0]?.errorCode;
}

async function append(partition: Partition, requiredAcks = -1): Promise<AwaitedAppend> {
  const info = partition.append(batchOf('a', 'b'), { origin: 'client', requiredAcks });
  await info.written;
  partition.recordWritten();
  return { partition, requiredOffset: info.lastOffset + 1, leadingSinceEpoch: partition.leadingSinceEpoch, errorCode: undefined };
}

function fetched(partition: Partition, brokerId: number, fetchOffset: number, logStartOffset = 0, brokerEpoch = -1): void {
  partition.recordFollowerFetch({ brokerId, brokerEpoch, fetchOffset, logStartOffset });
}

/** Answers the oldest proposal. */
async function settle(answer: Partial<InSyncAnswer>): Promise<void> {
  const [proposal] = proposals;
  assert.ok(proposal !== undefined);
  proposal.answer({ errorCode: errorCodes.NONE, leaderEpoch: proposal.leaderEpoch, isr: [], partitionEpoch: -1, ...answer });
  await Promise.resolve();
}

function brokersAlive(...ids: number[]): MetadataUpdate {
  return {
    controllerId: 9,
    controllerEpoch: 1,
    topicStates: [],
    ungroupedPartitionStates: [],
    liveBrokers: ids.map((id) => ({ id, rack: null, endpoints: [] })),
  };
}

function refusesWith(code: keyof typeof errorCodes): (error: unknown) => boolean {
  return (error) => error instanceof ProtocolError && error.code === errorCodes[code];
}

const stale = { whole: errorCodes.STALE_CONTROLLER_EPOCH, partition: undefined };

test('orders of an earlier controller are refused as a whole', async () => {
  await lead({ controllerEpoch: 5 });
  assert.deepEqual(await obey({ controllerEpoch: 4 }), stale);
});

test('also where this broker knows the later one by its metadata alone', async () => {
  await lead();
  metadataCache.update({ ...brokersAlive(1, 2, 3), controllerEpoch: 2 });
  assert.deepEqual(await obey({ leaderEpoch: 1 }), stale);
  assert.equal(stop(1, true), undefined);
  assert.equal(replicaManager.partition('t', 0).leaderEpoch, 0);
});

test('also where this broker hears of the later one while it prepares to obey', async () => {
  const outcome = obey({});
  metadataCache.update({ ...brokersAlive(1, 2, 3), controllerEpoch: 2 });
  assert.deepEqual(await outcome, stale);
  assert.equal(replicaManager.find('t', 0), undefined);
});

test('metadata of an earlier controller is refused where this broker has obeyed a later one', async () => {
  await lead({ controllerEpoch: 5 });
  const handler = updateMetadataHandler({ metadataCache, replicaManager, isFromBroker: () => true, brokerEpoch: () => 7 });
  const told = async (controllerEpoch: number): Promise<number> => {
    const { errorCode } = await callHandler(handler, 8, { ...brokersAlive(), controllerEpoch, brokerEpoch: -1 });
    return errorCode;
  };
  assert.equal(await told(4), errorCodes.STALE_CONTROLLER_EPOCH);
  assert.equal([...metadataCache.current.brokers()].length, 3);
  assert.equal(await told(5), errorCodes.NONE);
  assert.equal([...metadataCache.current.brokers()].length, 0);
});

for (const { name, next, expected } of [
  { name: 'the same again', next: { leaderEpoch: 2 }, expected: 'NONE' },
  { name: 'an earlier leader epoch', next: { leaderEpoch: 1 }, expected: 'STALE_CONTROLLER_EPOCH' },
  {
    name: 'another topic under the same name',
    next: { leaderEpoch: 3, topicId: 'AAAAAAAAAAAAAAAAAAAAAg' },
    expected: 'INCONSISTENT_TOPIC_ID',
  },
  { name: 'no topic id', next: { leaderEpoch: 3, topicId: zeroUuid }, expected: 'NONE' },
  {
    name: 'replicas among which this broker is not',
    next: { leaderEpoch: 3, isr: [7], leader: 7 },
    expected: 'UNKNOWN_TOPIC_OR_PARTITION',
  },
] as { name: string; next: Order; expected: keyof typeof errorCodes }[]) {
  test(`an order with ${name}: ${expected}`, async () => {
    await lead({ leaderEpoch: 2 });
    assert.equal((await obey(next)).partition, errorCodes[expected]);
  });
}

test('the high watermark waits for the followers in sync, and acks=all with it', async () => {
  const partition = await lead({ isr: [1, 2], replicas: [1, 2] });
  const appended = await append(partition);
  assert.equal(partition.log.highWatermark, 0);
  const acknowledged = replicated(replicaManager, [appended], 60_000);
  fetched(partition, 2, 0, 0);
  assert.equal(appended.errorCode, undefined);
  fetched(partition, 2, 2, 0);
  await acknowledged;
  assert.equal(appended.errorCode, errorCodes.NONE);
  assert.equal(partition.log.highWatermark, 2);
});

test('a broker that is no replica cannot fetch as one', async () => {
  const partition = await lead();
  assert.throws(() => fetched(partition, 7, 0, 0), refusesWith('NOT_LEADER_OR_FOLLOWER'));
});

test('with too few replicas in sync acks=all is refused, and what was appended stays uncommitted', async () => {
  config = { ...defaultLogConfig, minInSyncReplicas: 2 };
  const partition = await lead({ isr: [1], replicas: [1, 2, 3] });
  assert.throws(() => partition.append(batchOf('a'), { origin: 'client', requiredAcks: -1 }), refusesWith('NOT_ENOUGH_REPLICAS'));
  await append(partition, 1);
  assert.equal(partition.log.highWatermark, 0);
});

test('replicas that fall out of sync between append and answer are told', async () => {
  config = { ...defaultLogConfig, minInSyncReplicas: 2 };
  const partition = await lead({ isr: [1, 2], replicas: [1, 2] });
  const appended = await append(partition);
  fetched(partition, 2, 2, 0);
  await lead({ isr: [1], replicas: [1, 2], partitionEpoch: 1 });
  await replicated(replicaManager, [appended], 60_000);
  assert.equal(appended.errorCode, errorCodes.NOT_ENOUGH_REPLICAS_AFTER_APPEND);
});

test('who waits for replicas when the leader changes is told so', async () => {
  const partition = await lead({ isr: [1, 2], replicas: [1, 2] });
  const appended = await append(partition);
  const answered = replicated(replicaManager, [appended], 60_000);
  await obey({ leader: 2, leaderEpoch: 1, isr: [1, 2], replicas: [1, 2] });
  await answered;
  assert.equal(appended.errorCode, errorCodes.NOT_LEADER_OR_FOLLOWER);
});

test('a follower takes no records from clients, and lets those read who do not ask for the leader', async () => {
  await lead({ leader: 2, isr: [1, 2], replicas: [1, 2] });
  const partition = replicaManager.partition('t', 0);
  assert.throws(() => partition.append(batchOf('a'), { origin: 'client', requiredAcks: 1 }), refusesWith('NOT_LEADER_OR_FOLLOWER'));
  assert.throws(() => partition.logForOffsets(-1, true), refusesWith('NOT_LEADER_OR_FOLLOWER'));
  assert.equal(partition.logForOffsets(0, false).logEndOffset, 0);
});

test('until the high watermark reaches a new reign, the end of the log is not known', async () => {
  const partition = await lead({ isr: [1, 2], replicas: [1, 2] });
  await append(partition);
  await lead({ leaderEpoch: 1, isr: [1, 2], replicas: [1, 2] });
  assert.equal(partition.isEndKnown, false);
  assert.deepEqual(partition.log.endOffsetForEpoch(0), { leaderEpoch: 0, endOffset: 2 });
  assert.throws(() => partition.checkEpoch(0), refusesWith('FENCED_LEADER_EPOCH'));
  assert.throws(() => partition.checkEpoch(2), refusesWith('UNKNOWN_LEADER_EPOCH'));
  fetched(partition, 2, 2, 0);
  assert.equal(partition.isEndKnown, true);
});

test('a follower that has caught up is asked for once, and counts until the controller has answered', async () => {
  const partition = await lead({ isr: [1], replicas: [1, 2, 3] });
  await append(partition);
  fetched(partition, 2, 1, 0, 40);
  assert.equal(proposals.length, 0, 'it lacks what is committed');
  fetched(partition, 2, 2, 0, 41);
  fetched(partition, 2, 2, 0, 41);
  assert.deepEqual(
    proposals.map(({ answer: _, ...proposal }) => proposal),
    [
      {
        topic: 't',
        topicId,
        partition: 0,
        leaderEpoch: 0,
        partitionEpoch: 0,
        isr: [
          { brokerId: 1, brokerEpoch: 7 },
          { brokerId: 2, brokerEpoch: 41 },
        ],
      },
    ],
  );
  maxLagMs = -1;
  await append(partition);
  assert.equal(partition.log.highWatermark, 2, 'the controller may have taken it in already');
  assert.deepEqual([...partition.inSyncReplicas], [1]);
  await settle({ isr: [1, 2], partitionEpoch: 1 });
  assert.deepEqual([...partition.inSyncReplicas], [1, 2]);
  assert.equal(partition.log.highWatermark, 2);
  fetched(partition, 2, 4, 0, 41);
  assert.equal(partition.log.highWatermark, 4);
  assert.deepEqual(replicaManager.inSyncChanges, { grown: 1, shrunk: 0 });
});

test('a follower that lags counts until the controller has agreed that it does not', async () => {
  const partition = await lead({ isr: [1, 2], replicas: [1, 2] });
  await append(partition);
  partition.maybeShrinkInSyncReplicas();
  assert.equal(proposals.length, 0);
  maxLagMs = -1;
  partition.maybeShrinkInSyncReplicas();
  partition.maybeShrinkInSyncReplicas();
  assert.deepEqual(
    proposals.map(({ isr }) => isr.map(({ brokerId }) => brokerId)),
    [[1]],
  );
  partition.advanceHighWatermark();
  assert.equal(partition.log.highWatermark, 0);
  await settle({ isr: [1], partitionEpoch: 1 });
  assert.equal(partition.log.highWatermark, 2);
  assert.deepEqual(replicaManager.inSyncChanges, { grown: 0, shrunk: 1 });
});

for (const { error, then } of [
  { error: 'OPERATION_NOT_ATTEMPTED', then: 'withdrawn' },
  { error: 'INELIGIBLE_REPLICA', then: 'withdrawn' },
  { error: 'INVALID_REQUEST', then: 'withdrawn' },
  { error: 'FENCED_LEADER_EPOCH', then: 'left open' },
  { error: 'INVALID_UPDATE_VERSION', then: 'left open' },
  { error: 'NEW_LEADER_ELECTED', then: 'left open' },
  { error: 'UNKNOWN_TOPIC_ID', then: 'repeated' },
  { error: 'UNKNOWN_TOPIC_OR_PARTITION', then: 'repeated' },
  { error: 'UNKNOWN_SERVER_ERROR', then: 'repeated' },
  { error: 'REQUEST_TIMED_OUT', then: 'repeated' },
] as { error: keyof typeof errorCodes; then: string }[]) {
  test(`a change of in-sync replicas that is refused with ${error} is ${then}`, async () => {
    const partition = await lead({ isr: [1], replicas: [1, 2] });
    fetched(partition, 2, 0);
    maxLagMs = -1;
    await settle({ errorCode: errorCodes[error] });
    await append(partition);
    assert.equal(proposals.length, then === 'repeated' ? 2 : 1);
    assert.equal(partition.log.highWatermark, then === 'withdrawn' ? 2 : 0);
    // Whatever became of it: what the controller says next holds.
    await lead({ isr: [1], replicas: [1, 2], partitionEpoch: 5 });
    assert.equal(partition.log.highWatermark, 2);
    assert.equal(partition.partitionEpoch, 5);
  });
}

test('an order that is older than what the controller has answered changes nothing', async () => {
  const partition = await lead({ isr: [1], replicas: [1, 2] });
  fetched(partition, 2, 0);
  await settle({ isr: [1, 2], partitionEpoch: 3 });
  await lead({ isr: [1], replicas: [1, 2], partitionEpoch: 2 });
  assert.deepEqual([...partition.inSyncReplicas], [1, 2]);
});

test('an answer that comes when the reign is over is not heard', async () => {
  const partition = await lead({ isr: [1], replicas: [1, 2] });
  fetched(partition, 2, 0);
  await lead({ leaderEpoch: 1, isr: [1], replicas: [1, 2] });
  await settle({ isr: [1, 2], partitionEpoch: 9 });
  assert.deepEqual([...partition.inSyncReplicas], [1]);
  assert.equal(partition.partitionEpoch, 1);
});

test('a broker that is not alive is not asked for, nor one in an earlier life than it has fetched in', async () => {
  const partition = await lead({ isr: [1], replicas: [1, 2] });
  metadataCache.update(brokersAlive(1, 3));
  fetched(partition, 2, 0, 0, 8);
  assert.equal(proposals.length, 0);
  metadataCache.update(brokersAlive(1, 2, 3));
  assert.throws(() => fetched(partition, 2, 0, 0, 7), refusesWith('NOT_LEADER_OR_FOLLOWER'));
  fetched(partition, 2, 0, 0, 9);
  assert.deepEqual(proposals[0]?.isr.at(-1), { brokerId: 2, brokerEpoch: 9 });
});

test('fetchers are told whom to follow, and what this broker leads or has no more', async () => {
  await lead({ leader: 2, isr: [1, 2], replicas: [1, 2] });
  await lead({ leader: 3, leaderEpoch: 1, isr: [1, 3], replicas: [1, 3] });
  await lead({ leaderEpoch: 2, isr: [1, 3], replicas: [1, 3] });
  stop(2, true);
  assert.deepEqual(orders, ['follow 2 in 0', 'follow 3 in 0', 'leave 0', 'leave 0']);
});

test('a follower that is level and knows it need not be read for, but its fetch counts', async () => {
  const partition = await lead({ isr: [1, 2], replicas: [1, 2] });
  const level = { leaderEpoch: 0, lastFetchedEpoch: 0, highWatermark: 2, logStartOffset: 0 };
  const tryRecord = (known: Partial<KnownOffsets> = {}, fetchOffset = 2, brokerEpoch = 5): boolean => {
    const fetch = { brokerId: 2, brokerEpoch, fetchOffset, logStartOffset: 0 };
    return partition.tryRecordLevelFetch(fetch, { ...level, ...known }) !== undefined;
  };
  await append(partition);
  assert.ok(!tryRecord(), 'that it has come this far is news');
  fetched(partition, 2, 2, 0, 5);
  assert.ok(tryRecord());
  assert.ok(!tryRecord({ highWatermark: -1 }));
  assert.ok(!tryRecord({ logStartOffset: -1 }));
  assert.ok(!tryRecord({ leaderEpoch: -1 }));
  assert.ok(tryRecord({ lastFetchedEpoch: -1 }));
  assert.ok(!tryRecord({ lastFetchedEpoch: 1 }));
  assert.ok(!tryRecord({}, 1), 'there is something to read');
  assert.ok(!tryRecord({}, 2, 6), 'it has begun another life');
  const nowMs = world.clock.monotonicMs();
  assert.ok(tryRecord());
  const [follower] = partition.followers;
  assert.ok(follower !== undefined && follower.lastCaughtUpMs >= nowMs);
  partition.deleteRecordsBefore(1);
  assert.ok(!tryRecord(), 'the log begins later now');
});

test('the low watermark is that of the replica that lags most', async () => {
  const partition = await lead({ isr: [1, 2], replicas: [1, 2] });
  await append(partition);
  fetched(partition, 2, 2, 0);
  assert.equal(partition.deleteRecordsBefore(-1), 2);
  assert.equal(partition.lowWatermark, 0);
  fetched(partition, 2, 2, 2);
  assert.equal(partition.lowWatermark, 2);
});

test('a replica that is stopped is gone, with its log where that was asked for', async () => {
  await lead({ leaderEpoch: 3 });
  assert.equal(stop(2, true), errorCodes.FENCED_LEADER_EPOCH);
  const waiting = enoughToFetch(replicaManager, {
    wanted: [
      {
        topic: 't',
        topicId,
        partition: 0,
        currentLeaderEpoch: -1,
        fetchOffset: 0,
        lastFetchedEpoch: -1,
        followerLogStartOffset: -1,
        maxBytes: 1,
        toldHighWatermark: -1,
        toldLogStartOffset: -1,
        rest: undefined,
      },
    ],
    isolation: 'highWatermark',
    replicaId: -1,
    minBytes: 1,
    sizeBytes: 0,
    maxWaitMs: 60_000,
  });
  assert.equal(stop(3, false), errorCodes.NONE);
  await waiting;
  assert.throws(() => replicaManager.partition('t', 0), refusesWith('UNKNOWN_TOPIC_OR_PARTITION'));
  assert.ok(logManager.get({ topic: 't', partition: 0 }));
  assert.equal(stop(-2, true), errorCodes.NONE);
  assert.equal(logManager.get({ topic: 't', partition: 0 }), undefined);
});

test('with its directory offline a partition says so, and takes no orders', async () => {
  const partition = await lead();
  assert.deepEqual(replicaManager.takeDirectoryOffline(partition.log.directory), [partition]);
  assert.throws(() => replicaManager.partition('t', 0), refusesWith('KAFKA_STORAGE_ERROR'));
  assert.equal((await obey({ leaderEpoch: 1 })).partition, errorCodes.KAFKA_STORAGE_ERROR);
  assert.equal(stop(1, true), errorCodes.KAFKA_STORAGE_ERROR);
});
