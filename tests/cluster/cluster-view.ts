// What a cluster says of itself, asked of any of its brokers.

import {
  AlterPartitionReassignmentsRequest,
  AlterPartitionReassignmentsResponse,
  CreateTopicsRequest,
  CreateTopicsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  ElectLeadersRequest,
  ElectLeadersResponse,
  type Message,
  MetadataRequest,
  MetadataResponse,
} from '@odradek/protocol';
import { RawClient, until } from '@odradek/testing';

export interface PartitionView {
  readonly leader: number;
  readonly replicas: readonly number[];
  readonly isr: readonly number[];
}

const waitMs = 90_000;

export class ClusterView {
  readonly #ports: () => readonly number[];

  /** `ports`: of the brokers that run now. */
  constructor(ports: () => readonly number[]) {
    this.#ports = ports;
  }

  async metadata(topics: readonly string[] | null = []): Promise<Message<typeof MetadataResponse>> {
    let failure: unknown;
    for (const port of this.#ports()) {
      try {
        await using client = await RawClient.connect({ port, timeoutMs: 5_000 });
        const request = { topics: topics?.map((name) => ({ name })) ?? null, allowAutoTopicCreation: false };
        return await client.send(MetadataRequest, MetadataResponse, 8, request);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  async controller(): Promise<number> {
    return (await this.metadata()).controllerId;
  }

  /** The controller, once there is one. */
  someController(): Promise<number> {
    return until('there is a controller', async () => {
      const id = await this.controller();
      return id >= 0 ? id : undefined;
    });
  }

  /** Waits until a broker that was killed is registered no more. */
  untilGone(id: number): Promise<boolean> {
    const isGone = async (): Promise<boolean> => (await this.metadata()).brokers.every(({ nodeId }) => nodeId !== id);
    return until(`broker ${id} is gone`, isGone, { timeoutMs: waitMs, everyMs: 50 });
  }

  async partitions(topic: string): Promise<PartitionView[]> {
    const found = (await this.metadata([topic])).topics[0]?.partitions ?? [];
    return [...found]
      .sort((one, other) => one.partitionIndex - other.partitionIndex)
      .map(({ leaderId, replicaNodes, isrNodes }) => ({ leader: leaderId, replicas: replicaNodes, isr: isrNodes }));
  }

  /** Waits until the topic's partitions satisfy the condition, each of them. */
  async untilEach(topic: string, what: string, condition: (partition: PartitionView) => boolean): Promise<PartitionView[]> {
    let last: PartitionView[] = [];
    try {
      return await until(
        what,
        async () => {
          last = await this.partitions(topic);
          return last.length > 0 && last.every(condition) ? last : undefined;
        },
        { timeoutMs: waitMs, everyMs: 50 },
      );
    } catch (error) {
      throw new Error(`${what}: ${topic} is ${JSON.stringify(last)}`, { cause: error });
    }
  }

  untilController(id: number): Promise<boolean> {
    return until(`broker ${id} is the controller`, async () => (await this.controller()) === id, {
      timeoutMs: waitMs,
      everyMs: 50,
    });
  }

  async createTopic(
    name: string,
    assignment: readonly (readonly number[])[],
    configs: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await using client = await this.#controllerClient();
    const { topics } = await client.send(CreateTopicsRequest, CreateTopicsResponse, 5, {
      topics: [
        {
          name,
          numPartitions: -1,
          replicationFactor: -1,
          assignments: assignment.map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds })),
          configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
        },
      ],
      timeoutMs: 30_000,
    });
    ensureNone('CreateTopics', topics[0]?.errorCode);
  }

  async deleteTopic(name: string): Promise<void> {
    await using client = await this.#controllerClient();
    const request = { topicNames: [name], timeoutMs: 30_000 };
    ensureNone('DeleteTopics', (await client.send(DeleteTopicsRequest, DeleteTopicsResponse, 5, request)).responses[0]?.errorCode);
    await until('the topic is gone', async () => (await this.metadata(null)).topics.every((topic) => topic.name !== name), {
      timeoutMs: waitMs,
    });
  }

  /** Asks for the preferred leaders, and waits for them. */
  async electPreferred(topic: string): Promise<void> {
    await using client = await this.#controllerClient();
    await client.send(ElectLeadersRequest, ElectLeadersResponse, 2, { electionType: 0, topicPartitions: null, timeoutMs: 30_000 });
    await this.untilEach(topic, 'preferred leaders lead', ({ leader, replicas }) => leader === replicas[0]);
  }

  /** Moves partitions, and waits until they are where they shall be and in sync. */
  async reassign(topic: string, replicas: readonly number[]): Promise<void> {
    await using client = await this.#controllerClient();
    const partitions = (await this.partitions(topic)).map((_, partitionIndex) => ({ partitionIndex, replicas }));
    const request = { topics: [{ name: topic, partitions }], timeoutMs: 30_000 };
    const answer = await client.send(AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, 0, request);
    ensureNone('AlterPartitionReassignments', answer.errorCode);
    const wanted = [...replicas].sort().join();
    await this.untilEach(
      topic,
      `replicas are on ${wanted}`,
      (partition) => [...partition.replicas].sort().join() === wanted && [...partition.isr].sort().join() === wanted,
    );
  }

  async #controllerClient(): Promise<RawClient> {
    const { brokers, controllerId } = await until('there is a controller', async () => {
      const metadata = await this.metadata();
      return metadata.controllerId >= 0 ? metadata : undefined;
    });
    const port = brokers.find(({ nodeId }) => nodeId === controllerId)?.port ?? 0;
    return RawClient.connect({ port, timeoutMs: 60_000 });
  }
}

function ensureNone(what: string, errorCode: number | undefined): void {
  if (errorCode !== 0) throw new Error(`${what} was refused with ${errorCode}`);
}
