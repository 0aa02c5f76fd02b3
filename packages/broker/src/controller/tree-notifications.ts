// What brokers and old tools tell the controller through nodes of the tree: changes of in-sync replicas, failed log directories, elections
// and moves that are wanted. Each is read, taken in and removed.

import {
  type Coordination,
  InvalidNodeError,
  isrChangeNode,
  logDirEventNode,
  preferredReplicaElectionNode,
  type Watcher,
} from '@odradek/coordination';
import type { Logger } from '@odradek/runtime';
import type { BrokerRequests } from './broker-requests.ts';
import type { ControllerContext, PartitionContext } from './controller-context.ts';
import { loadLeaderships } from './controller-loading.ts';
import type { ControllerTree } from './controller-tree.ts';
import type { PartitionStates } from './partition-states.ts';
import type { Reassignments } from './reassignments.ts';
import type { ReplicaStates } from './replica-states.ts';
import type { TopicDeletion } from './topic-deletion.ts';

export interface TreeNotificationsParts {
  readonly coordination: Coordination;
  readonly context: ControllerContext;
  readonly tree: ControllerTree;
  readonly requests: BrokerRequests;
  readonly partitionStates: PartitionStates;
  readonly replicaStates: ReplicaStates;
  readonly deletion: TopicDeletion;
  readonly reassignments: Reassignments;
  /** Adds an event to the controller's queue, unless one of that name waits there. */
  readonly postOnce: (name: string, action: () => Promise<void>) => void;
  readonly logger: Logger;
}

export class TreeNotifications {
  readonly #parts: TreeNotificationsParts;
  readonly #electionWatcher: Watcher;

  constructor(parts: TreeNotificationsParts) {
    this.#parts = parts;
    this.#electionWatcher = creationWatcher(preferredReplicaElectionNode.path, parts, () => this.#takeElectionRequest());
  }

  /** Takes everything that comes. What lies there from before is removed: it is in what the controller reads after this. */
  async watch(): Promise<void> {
    await Promise.all([
      this.#watchFolder(isrChangeNode.folder, (data) => this.#isrsChanged(data)),
      this.#watchFolder(logDirEventNode.folder, (data) => this.#directoryFailed(data)),
    ]);
  }

  /** The same of what is wanted; to be begun when all partitions have their states. */
  async watchRequests(): Promise<void> {
    await this.#parts.reassignments.takeRequestNode();
    await this.#takeElectionRequest();
  }

  async #isrsChanged(data: Buffer | null): Promise<void> {
    const { context, tree, requests, reassignments } = this.#parts;
    const changed = isrChangeNode.decode(data).flatMap(({ topic, partition }) => context.partition(topic, partition) ?? []);
    await loadLeaderships(tree, changed);
    requests.addMetadata(context.liveBrokerIds(), changed);
    requests.send();
    await reassignments.completeWherePossible(changed);
  }

  /**
   * Asking it to lead or follow everything again, the broker says which replicas it cannot. A deletion that waits for it is tried again:
   * its disk may only have been full.
   */
  async #directoryFailed(data: Buffer | null): Promise<void> {
    const { context, replicaStates, deletion } = this.#parts;
    const replicas = [...context.replicasOn(logDirEventNode.decode(data))];
    const going = replicas.filter(({ partition }) => context.isMarkedForDeletion(partition.topic.name));
    await replicaStates.change(
      replicas.filter((replica) => !going.includes(replica)),
      'Online',
    );
    for (const replica of going) context.markDirectoryOnline(replica);
    deletion.makeEligible(going.map(({ partition }) => partition.topic.name));
    await deletion.resume();
  }

  async #watchFolder(folder: string, take: (data: Buffer | null) => Promise<void>): Promise<void> {
    const names = await this.#namesIn(folder, take);
    await this.#parts.tree.remove(names.map((name) => `${folder}/${name}`));
  }

  /** In the order in which they came. The folder is taken again when something comes. */
  async #namesIn(folder: string, take: (data: Buffer | null) => Promise<void>): Promise<string[]> {
    const { coordination, postOnce } = this.#parts;
    const { names } = await coordination.children(folder, () => postOnce(folder, () => this.#takeFolder(folder, take)));
    return names.sort();
  }

  /** Reads and removes what is in the folder. */
  async #takeFolder(folder: string, take: (data: Buffer | null) => Promise<void>): Promise<void> {
    const { coordination, tree, requests, logger } = this.#parts;
    const names = await this.#namesIn(folder, take);
    const nodes = await Promise.all(names.map((name) => coordination.get(`${folder}/${name}`)));
    for (const { data } of nodes) {
      try {
        await take(data);
      } catch (error) {
        if (!(error instanceof InvalidNodeError)) throw error;
        logger.error('A notification cannot be read', { folder, error });
      }
    }
    await tree.remove(names.map((name) => `${folder}/${name}`));
    requests.send();
  }

  async #takeElectionRequest(): Promise<void> {
    const { coordination, context, tree, partitionStates, requests, logger } = this.#parts;
    const { path } = preferredReplicaElectionNode;
    const stat = await coordination.exists(path, this.#electionWatcher);
    if (stat === undefined) return;
    const { data } = await coordination.get(path);
    try {
      const partitions = preferredReplicaElectionNode
        .decode(data)
        .flatMap(({ topic, partition }) => context.partition(topic, partition) ?? [])
        .filter((partition) => needsElection(partition, context));
      await partitionStates.change(partitions, 'Online', { type: 'preferred' });
      requests.send();
    } catch (error) {
      if (!(error instanceof InvalidNodeError)) throw error;
      logger.error('A wish for elections cannot be read', { path, error });
    }
    await tree.remove([path]);
  }
}

function needsElection({ topic, assignedReplicas, leadership }: PartitionContext, context: ControllerContext): boolean {
  return leadership?.leader !== assignedReplicas[0] && !context.isMarkedForDeletion(topic.name);
}

/** Calls the action when the node has been created, each time. Changes of the node, which are the controller's own, mean nothing. */
export function creationWatcher(
  path: string,
  { coordination, postOnce }: Pick<TreeNotificationsParts, 'coordination' | 'postOnce'>,
  action: () => Promise<void>,
): Watcher {
  const watcher: Watcher = ({ type }) => {
    postOnce(`${path} ${type}`, async () => {
      if (type === 'created') await action();
      else if ((await coordination.exists(path, watcher)) !== undefined && type === 'deleted') await action();
    });
  };
  return watcher;
}
