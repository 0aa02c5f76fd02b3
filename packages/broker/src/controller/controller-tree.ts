// The controller's hands in the coordination tree. Every write checks the version of /controller_epoch in the same
// transaction, so that a controller that has been succeeded can change nothing. Many operations are in flight at once.

import {
  type Coordination,
  configNode,
  controllerEpochNode,
  deleteTopicNode,
  InvalidNodeError,
  isCoordinationError,
  type Operation,
  type OperationResult,
  partitionNode,
  partitionStateNode,
  partitionsNode,
  reassignPartitionsNode,
  type TopicAssignment,
  topicNode,
  type Watcher,
} from '@odradek/coordination';
import type { Leadership, PartitionContext, TopicContext } from './controller-context.ts';
import { describePartition } from './controller-context.ts';
import type { ReplicaAssignment } from './reassignment-plan.ts';

/** Another controller has taken office. */
export class ControllerMovedError extends Error {
  constructor(options?: ErrorOptions) {
    super('Another controller has been elected', options);
    this.name = 'ControllerMovedError';
  }
}

export interface LeadershipWrite {
  readonly partition: PartitionContext;
  /** Its partitionEpoch is that of the node that is to be replaced. */
  readonly leadership: Leadership;
}

/** The leadership as written, with its new partition epoch; or why it was not. */
export type LeadershipOutcome =
  | { readonly partition: PartitionContext; readonly leadership: Leadership }
  | { readonly partition: PartitionContext; readonly error: unknown };

/** An ensemble takes transactions of up to a megabyte. */
const operationsPerTransaction = 500;

export class ControllerTree {
  readonly #coordination: Coordination;
  readonly #epochNodeVersion: number;

  constructor(coordination: Coordination, epochNodeVersion: number) {
    this.#coordination = coordination;
    this.#epochNodeVersion = epochNodeVersion;
  }

  /** The operations, provided that this controller is still in office. */
  async write(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    try {
      const results = await this.#coordination.multi([
        { type: 'check', path: controllerEpochNode.path, version: this.#epochNodeVersion },
        ...operations,
      ]);
      return results.slice(1);
    } catch (error) {
      if (isCoordinationError(error) && error.failedOperation === 0) throw new ControllerMovedError({ cause: error });
      throw error;
    }
  }

  /** The leaderships as the tree has them; undefined where there is no state node. */
  async readLeaderships(partitions: readonly PartitionContext[]): Promise<(Leadership | undefined)[]> {
    return (await this.readStates(partitions)).map((state) => state?.leadership);
  }

  /** The leaderships, each with the transaction that wrote it. */
  readStates(
    partitions: readonly PartitionContext[],
  ): Promise<({ readonly leadership: Leadership; readonly zxid: number } | undefined)[]> {
    return Promise.all(
      partitions.map(async (partition) => {
        try {
          const { data, stat } = await this.#coordination.get(partitionStateNode.path(partition.topic.name, partition.index));
          const state = partitionStateNode.decode(describePartition(partition), data);
          return { leadership: { ...state, partitionEpoch: stat.version }, zxid: stat.mzxid };
        } catch (error) {
          if (isCoordinationError(error, 'NoNode')) return undefined;
          throw error;
        }
      }),
    );
  }

  /** Writes the first state of partitions, with the nodes above it. */
  async createLeaderships(writes: readonly LeadershipWrite[]): Promise<LeadershipOutcome[]> {
    const topics = new Set(writes.map(({ partition }) => partition.topic.name));
    const folders = [...topics].map((topic) => this.#createUnlessThere(partitionsNode.path(topic)));
    const outcomes = writes.map((write) => outcomeOf(write, this.#createLeadership(write)));
    const [written] = await Promise.all([Promise.all(outcomes), ...folders]);
    return written;
  }

  async #createUnlessThere(path: string): Promise<void> {
    try {
      await this.write([{ type: 'create', path, data: null }]);
    } catch (error) {
      if (!isCoordinationError(error, 'NodeExists')) throw error;
    }
  }

  async #createLeadership({ partition, leadership }: LeadershipWrite): Promise<Leadership> {
    const topic = partition.topic.name;
    const folder = partitionNode.path(topic, partition.index);
    const state: Operation = {
      type: 'create',
      path: partitionStateNode.path(topic, partition.index),
      data: partitionStateNode.encode(leadership),
    };
    try {
      await this.write([{ type: 'create', path: folder, data: null }, state]);
    } catch (error) {
      // Kafka's controllers make the folder in a step of its own, and may have got no further.
      if (!(isCoordinationError(error, 'NodeExists') && error.path === folder)) throw error;
      await this.write([state]);
    }
    return { ...leadership, partitionEpoch: 0 };
  }

  /** Replaces states whose version is still the one given. */
  updateLeaderships(writes: readonly LeadershipWrite[]): Promise<LeadershipOutcome[]> {
    return Promise.all(writes.map((write) => outcomeOf(write, this.#updateLeadership(write))));
  }

  async #updateLeadership({ partition, leadership }: LeadershipWrite): Promise<Leadership> {
    const path = partitionStateNode.path(partition.topic.name, partition.index);
    const [result] = await this.write([
      { type: 'set', path, data: partitionStateNode.encode(leadership), version: leadership.partitionEpoch },
    ]);
    return { ...leadership, partitionEpoch: result?.type === 'set' ? result.stat.version : leadership.partitionEpoch + 1 };
  }

  /**
   * Writes one partition's assignment into its topic's node. The others stay as the node has them: it may have grown by partitions
   * that this controller has not heard of.
   */
  async writeAssignment({ topic, index }: PartitionContext, assignment: ReplicaAssignment): Promise<void> {
    const path = topicNode.path(topic.name);
    for (;;) {
      const { data, stat } = await this.#coordination.get(path);
      const { topicId, ...before } = topicNode.decode(topic.name, data);
      const changed: TopicAssignment = {
        topicId,
        replicas: withEntry(before.replicas, index, assignment.assignedReplicas),
        addingReplicas: withEntry(before.addingReplicas, index, assignment.addingReplicas),
        removingReplicas: withEntry(before.removingReplicas, index, assignment.removingReplicas),
      };
      try {
        await this.write([{ type: 'set', path, data: topicNode.encode(changed), version: stat.version }]);
        return;
      } catch (error) {
        if (!isCoordinationError(error, 'BadVersion')) throw error;
      }
    }
  }

  /** Writes the id into the topic's node, unless it has got one meanwhile. Answers the one that it has. */
  async giveTopicId(name: string, topicId: string): Promise<string> {
    const path = topicNode.path(name);
    for (;;) {
      const { data, stat } = await this.#coordination.get(path);
      const assignment = topicNode.decode(name, data);
      if (assignment.topicId !== undefined) return assignment.topicId;
      try {
        await this.write([{ type: 'set', path, data: topicNode.encode({ ...assignment, topicId }), version: stat.version }]);
        return topicId;
      } catch (error) {
        if (!isCoordinationError(error, 'BadVersion')) throw error;
      }
    }
  }

  /** What old tools have written into /admin/reassign_partitions; undefined: there is no such node. */
  async readReassignmentNode(watcher?: Watcher): Promise<ReturnType<typeof reassignPartitionsNode.decode> | undefined> {
    const { path } = reassignPartitionsNode;
    if ((await this.#coordination.exists(path, watcher)) === undefined) return undefined;
    try {
      return reassignPartitionsNode.decode((await this.#coordination.get(path)).data);
    } catch (error) {
      if (isCoordinationError(error, 'NoNode')) return undefined;
      if (error instanceof InvalidNodeError) return [];
      throw error;
    }
  }

  /** Everything that the tree has of the topic, and last the wish that it be deleted. */
  async deleteTopic(topic: TopicContext): Promise<void> {
    const { name } = topic;
    const nodes = [...topic.partitions.values()].flatMap((partition) => [
      ...(partition.leadership === undefined
        ? []
        : [partitionStateNode.path(name, partition.index), partitionNode.path(name, partition.index)]),
    ]);
    const paths = [
      ...nodes,
      partitionsNode.path(name),
      topicNode.path(name),
      configNode.path('topics', name),
      deleteTopicNode.path(name),
    ];
    try {
      const steps: Promise<unknown>[] = [];
      for (let start = 0; start < paths.length; start += operationsPerTransaction) {
        const part = paths.slice(start, start + operationsPerTransaction);
        steps.push(this.write(part.map((path) => ({ type: 'delete', path, version: -1 }))));
      }
      await Promise.all(steps);
    } catch (error) {
      // The tree is not quite as remembered: a deletion that was begun earlier, or nodes of somebody else.
      if (!isCoordinationError(error, 'NoNode', 'NotEmpty')) throw error;
      await this.#deleteWithChildren(topicNode.path(name));
      await this.#deleteWithChildren(configNode.path('topics', name));
      await this.#deleteWithChildren(deleteTopicNode.path(name));
    }
  }

  async #deleteWithChildren(path: string): Promise<void> {
    try {
      const { names } = await this.#coordination.children(path);
      await Promise.all(names.map((name) => this.#deleteWithChildren(`${path}/${name}`)));
      await this.write([{ type: 'delete', path, version: -1 }]);
    } catch (error) {
      if (!isCoordinationError(error, 'NoNode')) throw error;
    }
  }

  /** Takes away nodes of notifications and requests that have been dealt with. */
  async remove(paths: readonly string[]): Promise<void> {
    await Promise.all(paths.map((path) => this.#deleteWithChildren(path)));
  }
}

/** Empty lists are not written. */
function withEntry(
  entries: ReadonlyMap<number, readonly number[]>,
  index: number,
  replicas: readonly number[],
): ReadonlyMap<number, readonly number[]> {
  const changed = new Map(entries);
  if (replicas.length > 0) changed.set(index, replicas);
  else changed.delete(index);
  return changed;
}

/** Only a change of controller, or a tree that takes nothing, fails the whole. */
async function outcomeOf({ partition }: LeadershipWrite, written: Promise<Leadership>): Promise<LeadershipOutcome> {
  try {
    return { partition, leadership: await written };
  } catch (error) {
    if (error instanceof ControllerMovedError || isCoordinationError(error, 'ConnectionLoss', 'SessionExpired')) throw error;
    return { partition, error };
  }
}
