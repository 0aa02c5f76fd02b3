// How long a partition takes no records when the broker that leads it is killed: until a record is acknowledged by all replicas that its next
// leader has in sync.

import {
  buildRecordBatch,
  type Message,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { until } from '@odradek/testing';
import type { BrokerCluster } from './clusters.ts';
import { openSession, whenDeleted } from './session-end.ts';

export interface Failover {
  /** From the kill on. */
  readonly totalMs: number;
  /** From the moment on at which ZooKeeper lets the broker's session end. */
  readonly afterSessionMs: number;
}

const wait = { timeoutMs: 60_000, everyMs: 5 };

/** Kills the leader of the partition, and starts it again in the end; `observer` is another broker, which says who leads. */
export async function failover(cluster: BrokerCluster, topic: string, victim: number, observer: number): Promise<Failover> {
  const coordination = await openSession(cluster.zookeeperConnect);
  try {
    const isOver = whenDeleted(coordination, `/brokers/ids/${victim}`);
    await using client = await cluster.connect(observer);
    const killedMs = performance.now();
    await cluster.kill(victim);
    const leader = await until(
      'there is another leader',
      async () => {
        const answer: Message<typeof MetadataResponse> = await client.send(MetadataRequest, MetadataResponse, 8, {
          topics: [{ name: topic }],
        });
        const led = answer.topics[0]?.partitions.find(({ partitionIndex }) => partitionIndex === victim);
        return led !== undefined && led.leaderId >= 0 && led.leaderId !== victim ? led.leaderId : undefined;
      },
      wait,
    );
    await using next = await cluster.connect(leader);
    await until(
      'it takes a record',
      async () => {
        const records = buildRecordBatch({}, [{ timestamp: Date.now(), key: null, value: Buffer.from('x') }]);
        const answer = await next.send(ProduceRequest, ProduceResponse, 9, {
          acks: -1,
          timeoutMs: 30_000,
          topicData: [{ name: topic, partitionData: [{ index: victim, records }] }],
        });
        return answer.responses[0]?.partitionResponses[0]?.errorCode === 0;
      },
      wait,
    );
    const doneMs = performance.now();
    return { totalMs: doneMs - killedMs, afterSessionMs: doneMs - (await isOver) };
  } finally {
    await coordination.close();
    await cluster.start(victim);
  }
}
