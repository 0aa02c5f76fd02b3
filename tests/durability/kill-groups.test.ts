// The broker is killed in the middle of rebalances and commits, again and again: no committed offset is lost, and none goes
// backwards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FindCoordinatorRequest, FindCoordinatorResponse, MetadataRequest, MetadataResponse } from '@odradek/protocol';
import { RawClient, startOdradekProcess, until } from '@odradek/testing';
import { CommittingMember, committedOffset } from './committing-members.ts';

const kills = Number(process.env['ODRADEK_KILLS'] ?? 5);
const partitionCount = 3;

test(`${kills} kills in the middle of rebalances and commits lose no committed offset`, async () => {
  await using broker = await startOdradekProcess({
    properties: {
      'num.partitions': partitionCount,
      'offsets.topic.num.partitions': 5,
      'group.initial.rebalance.delay.ms': 0,
      'group.min.session.timeout.ms': 100,
      'group.consumer.assignment.interval.ms': 0,
    },
  });
  const { port } = broker;
  const members = (['classic', 'consumer'] as const).flatMap((protocol) =>
    Array.from(
      { length: partitionCount },
      (_, partition) => new CommittingMember({ port, group: `${protocol}-group`, topic: 'committed', partition, protocol }),
    ),
  );
  await createTopics(port);
  try {
    for (let kill = 1; kill <= kills; kill++) {
      const before = members.map(({ acknowledged }) => acknowledged);
      await until('every member has committed a few times', () =>
        members.every(({ acknowledged }, index) => acknowledged >= (before[index] ?? 0) + 5),
      );
      await broker.kill();
      const told = members.map(({ acknowledged, attempted }) => ({ acknowledged, attempted }));
      await broker.start();
      for (const [index, { options }] of members.entries()) {
        const committed = await committedOffset(options);
        const { acknowledged = 0 } = told[index] ?? {};
        const where = `${options.group}, partition ${options.partition}, after kill ${kill}`;
        assert.ok(committed >= acknowledged, `${where}: ${committed} is committed, but ${acknowledged} was acknowledged`);
        assert.ok(committed <= (members[index]?.attempted ?? 0), `${where}: ${committed} was never sent`);
      }
    }
  } catch (cause) {
    throw new Error(`the broker said:\n${broker.output.slice(-4000)}`, { cause });
  } finally {
    await Promise.all(members.map((member) => member.stop()));
  }
});

/** The topic that is committed for, and `__consumer_offsets`, by asking for them. */
async function createTopics(port: number): Promise<void> {
  await using client = await RawClient.connect({ port });
  await until('the topics are there', async () => {
    const topics = [{ name: 'committed' }];
    const metadata = await client.send(MetadataRequest, MetadataResponse, 8, { topics, allowAutoTopicCreation: true });
    const found = await client.send(FindCoordinatorRequest, FindCoordinatorResponse, 2, { key: 'any', keyType: 0 });
    return metadata.topics[0]?.errorCode === 0 && found.errorCode === 0;
  });
}
