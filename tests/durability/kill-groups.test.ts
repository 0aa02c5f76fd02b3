// The broker is killed in the middle of rebalances and commits, again and again: no committed offset is lost and none goes
// backwards, no generation or epoch that was given out comes again, and who waited in a rebalance goes on.
//
// ODRADEK_KILLS=50 is the long form: ODRADEK_KILLS=50 node --conditions=odradek-source --test tests/durability/kill-groups.test.ts

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FindCoordinatorRequest, FindCoordinatorResponse, MetadataRequest, MetadataResponse } from '@odradek/protocol';
import { type BrokerUnderTest, type OdradekProcess, RawClient, startOdradekProcess, until } from '@odradek/testing';
import { assertError } from '../cases/broker-conversation.ts';
import { GroupMember } from '../cases/group-conversation.ts';
import { CommittingMember, committedOffset, GroupHistory } from './committing-members.ts';
import { rebalances } from './interrupted-rebalances.ts';
import { beginTransaction, endTransaction, type TransactionalCommit, transactionalOffset } from './open-transaction.ts';

const kills = Number(process.env['ODRADEK_KILLS'] ?? 5);
const partitionCount = 3;
const topic = 'committed';

test(`${kills} kills in the middle of rebalances and commits lose nothing of groups`, { timeout: 600_000 }, async (context) => {
  await using odradek = await startOdradekProcess({
    properties: {
      'num.partitions': partitionCount,
      'offsets.topic.num.partitions': 5,
      'group.initial.rebalance.delay.ms': 0,
      'group.min.session.timeout.ms': 100,
      'group.consumer.assignment.interval.ms': 0,
      'group.consumer.session.timeout.ms': 60_000,
    },
  });
  const broker = asBroker(odradek);
  await createTopics(broker.port);
  const transactions = await leaveTransactionsOpen(odradek);
  const members = startMembers(broker.port);
  const interrupted = new Map(Object.keys(rebalances).map((what) => [what, 0]));
  let commitsUnderWay = 0;
  try {
    for (let kill = 1; kill <= kills; kill++) {
      const before = members.map(({ acknowledged }) => acknowledged);
      const begun = await Promise.all(
        Object.entries(rebalances).map(async ([what, begin]) => ({ what, ...(await begin(broker, topic, `${what} ${kill}`)) })),
      );
      await until('every member has committed a few times', () =>
        members.every(({ acknowledged }, index) => acknowledged >= (before[index] ?? 0) + 5),
      );
      await Promise.all(begun.map((rebalance) => rebalance.assertIsInTheMiddle()));
      const killed = odradek.kill();
      commitsUnderWay += members.filter(({ isCommitting }) => isCommitting).length;
      await killed;
      // Answers that were on their way when the broker died have come by now.
      const told = members.map(({ acknowledged }) => acknowledged);
      await odradek.start();

      for (const [index, { options }] of members.entries()) {
        const committed = await committedOffset(options);
        const acknowledged = told[index] ?? 0;
        const where = `${options.group}, partition ${options.partition}, after kill ${kill}`;
        assert.ok(committed >= acknowledged, `${where}: ${committed} is committed, but ${acknowledged} was acknowledged`);
        assert.ok(committed <= (members[index]?.attempted ?? 0), `${where}: ${committed} was never sent`);
        assert.deepEqual(options.history.problems, [], where);
      }
      for (const { what, assertGoesOn } of begun) {
        await assertGoesOn();
        interrupted.set(what, (interrupted.get(what) ?? 0) + 1);
      }
      for (const { commit } of transactions) assert.equal(await transactionalOffset(broker.port, commit), 'unstable, 1');
    }
  } catch (cause) {
    throw new Error(`the broker said:\n${odradek.output.slice(-4000)}`, { cause });
  } finally {
    await Promise.all(members.map((member) => member.stop()));
  }
  await endTransactions(odradek, transactions);
  for (const [what, count] of interrupted) {
    assert.equal(count, kills);
    context.diagnostic(`${count} kills while ${what}`);
  }
  assert.ok(commitsUnderWay >= kills, `only ${commitsUnderWay} commits were under way at ${kills} kills`);
  context.diagnostic(`${commitsUnderWay} commits were under way at ${kills} kills`);
});

function asBroker(odradek: OdradekProcess): BrokerUnderTest {
  const { host, port, bootstrap } = odradek;
  return { host, port, bootstrap, odradek, close: () => odradek.close() };
}

/** Members of both protocols, with and without a static place, one for each partition. */
function startMembers(port: number): CommittingMember[] {
  return (['classic', 'consumer'] as const).flatMap((protocol) =>
    ['dynamic', 'static'].flatMap((kind) => {
      const history = new GroupHistory();
      const group = `${protocol}-${kind}`;
      return Array.from({ length: partitionCount }, (_, partition) => {
        const instanceId = kind === 'static' ? `place-${partition}` : null;
        return new CommittingMember({ port, group, topic, partition, protocol, instanceId, history });
      });
    }),
  );
}

interface OpenTransaction {
  readonly commit: TransactionalCommit;
  readonly end: 'commit' | 'abort';
}

/** Two groups have committed 1, and an open transaction of each has committed 2. */
async function leaveTransactionsOpen(odradek: OdradekProcess): Promise<readonly OpenTransaction[]> {
  const [dataDirectory = ''] = odradek.dataDirectories;
  const transactions = (['commit', 'abort'] as const).map((end, index) => ({
    end,
    commit: { producerId: 1000 + index, group: `transactional-${end}`, topic, partition: 0, offset: 2 },
  }));
  for (const { commit } of transactions) {
    await using member = await GroupMember.open(asBroker(odradek), { group: commit.group, topic });
    assertError(await member.commit(8, 1), 'NONE');
  }
  await odradek.stop();
  for (const { commit } of transactions) await beginTransaction(dataDirectory, commit);
  await odradek.start();
  for (const { commit } of transactions) assert.equal(await transactionalOffset(odradek.port, commit), 'unstable, 1');
  return transactions;
}

async function endTransactions(odradek: OdradekProcess, transactions: readonly OpenTransaction[]): Promise<void> {
  const [dataDirectory = ''] = odradek.dataDirectories;
  await odradek.stop();
  for (const { commit, end } of transactions) await endTransaction(dataDirectory, commit, end);
  await odradek.start();
  for (const { commit, end } of transactions) {
    assert.equal(await transactionalOffset(odradek.port, commit), end === 'commit' ? '2, 2' : '1, 1');
  }
}

/** The topic that is committed for, and `__consumer_offsets`, by asking for them. */
async function createTopics(port: number): Promise<void> {
  await using client = await RawClient.connect({ port });
  await until('the topics are there', async () => {
    const topics = [{ name: topic }];
    const metadata = await client.send(MetadataRequest, MetadataResponse, 8, { topics, allowAutoTopicCreation: true });
    const found = await client.send(FindCoordinatorRequest, FindCoordinatorResponse, 2, { key: 'any', keyType: 0 });
    return metadata.topics[0]?.errorCode === 0 && found.errorCode === 0;
  });
}
