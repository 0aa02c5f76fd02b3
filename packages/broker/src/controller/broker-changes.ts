// What the controller does when brokers come, go and stop: leaders are elected, replicas go offline and come back, and everyone is
// told who is alive.

import type { Coordination } from '@odradek/coordination';
import type { Logger } from '@odradek/runtime';
import type { BrokerRequests } from './broker-requests.ts';
import type { ControllerContext, LiveBroker, PartitionContext, Replica } from './controller-context.ts';
import { type LoadingWatches, readBrokers } from './controller-loading.ts';
import type { PartitionStates } from './partition-states.ts';
import type { Reassignments } from './reassignments.ts';
import type { ReplicaStates } from './replica-states.ts';
import type { TopicDeletion } from './topic-deletion.ts';

export interface BrokerChangesParts {
  readonly coordination: Coordination;
  readonly watches: LoadingWatches;
  readonly context: ControllerContext;
  readonly requests: BrokerRequests;
  readonly partitionStates: PartitionStates;
  readonly replicaStates: ReplicaStates;
  readonly deletion: TopicDeletion;
  readonly reassignments: Reassignments;
  readonly logger: Logger;
}

export class BrokerChanges {
  readonly #parts: BrokerChangesParts;

  constructor(parts: BrokerChangesParts) {
    this.#parts = parts;
  }

  /** Brokers were registered, or registrations are gone. */
  async take(): Promise<void> {
    const { context, coordination, watches } = this.#parts;
    const current = await readBrokers(coordination, watches);
    const currentIds = new Set(current.map(({ registration }) => registration.id));
    const dead = [...context.brokers.values()].filter(({ registration }) => !currentIds.has(registration.id));
    // A broker that was away between two readings comes back with another epoch: it has failed and started.
    const restarted = current.filter(({ registration, epoch }) => {
      const before = context.brokers.get(registration.id);
      return before !== undefined && before.epoch !== epoch;
    });
    const started = current.filter(({ registration }) => !context.brokers.has(registration.id));
    if (dead.length + restarted.length > 0) await this.#failed([...dead, ...restarted]);
    if (started.length + restarted.length > 0) await this.#started([...started, ...restarted]);
    this.#registrationsChanged(current);
  }

  /** All at once, so that nobody elects one of them. */
  async #failed(brokers: readonly LiveBroker[]): Promise<void> {
    const { context, requests, logger } = this.#parts;
    const ids = brokers.map(({ registration }) => registration.id);
    logger.info('Brokers are gone', { brokers: ids.join(',') });
    for (const id of ids) {
      context.brokers.delete(id);
      context.shuttingDownBrokers.delete(id);
      context.forgetOfflineDirectories(id);
      requests.forgetBroker(id);
    }
    await this.replicasWentOffline(ids.flatMap((id) => [...context.replicasOn(id)]));
  }

  /** Their broker is gone, or their log directory. */
  async replicasWentOffline(replicas: readonly Replica[]): Promise<void> {
    const { context, requests, partitionStates, replicaStates, deletion } = this.#parts;
    const { ofDeletion, others } = this.#byFate(replicas);
    const leaderless = [...context.partitions()].filter((partition) => context.hasOfflineLeader(partition));
    await partitionStates.change(leaderless, 'Offline');
    await partitionStates.electWherePossible();
    await replicaStates.change(others, 'Offline');
    await deletion.fail(ofDeletion);
    requests.addMetadata(context.liveBrokerIds(), []);
    requests.send();
  }

  async #started(brokers: readonly LiveBroker[]): Promise<void> {
    const { context, requests, partitionStates, replicaStates, deletion, reassignments, logger } = this.#parts;
    const known = context.liveBrokerIds();
    for (const broker of brokers) {
      logger.info('A broker is there', { broker: broker.registration.id, epoch: broker.epoch });
      context.brokers.set(broker.registration.id, broker);
    }
    // Those that were there learn of the new ones; the new ones learn of everything, and before they are told to follow anybody: Kafka's
    // brokers follow no leader that they do not know to be alive.
    requests.addMetadata(known, []);
    requests.send();
    const ids = brokers.map(({ registration }) => registration.id);
    requests.addMetadata(ids, context.partitions());
    requests.send();
    const { ofDeletion, others } = this.#byFate(ids.flatMap((brokerId) => [...context.replicasOn(brokerId)]));
    await replicaStates.change(others, 'Online');
    await partitionStates.electWherePossible();
    await reassignments.resume(new Set(ids));
    deletion.makeEligible(ofDeletion.map(({ partition }) => partition.topic.name));
    await deletion.resume();
    requests.send();
  }

  /** A broker that lives on may have set other endpoints. */
  #registrationsChanged(current: readonly LiveBroker[]): void {
    const { context, requests } = this.#parts;
    const changed = current.filter((broker) => {
      const known = context.brokers.get(broker.registration.id);
      return known !== undefined && JSON.stringify(known.registration.endpoints) !== JSON.stringify(broker.registration.endpoints);
    });
    if (changed.length === 0) return;
    for (const broker of changed) context.brokers.set(broker.registration.id, broker);
    requests.addMetadata(context.liveBrokerIds(), context.partitions());
    requests.send();
  }

  /**
   * ControlledShutdown: leadership moves off the broker and its followers stop. Answers the partitions that it still leads, because
   * nobody else is in sync.
   */
  async shutDown(brokerId: number): Promise<PartitionContext[]> {
    const { context, requests, partitionStates, replicaStates } = this.#parts;
    context.shuttingDownBrokers.add(brokerId);
    const replicas = [...context.replicasOn(brokerId)].filter(({ partition }) => {
      return (
        partition.leadership !== undefined &&
        partition.assignedReplicas.length > 1 &&
        !context.isMarkedForDeletion(partition.topic.name)
      );
    });
    const [led, followed] = [replicas.filter(leads), replicas.filter((replica) => !leads(replica))];
    await partitionStates.change(
      led.map(({ partition }) => partition),
      'Online',
      { type: 'shutdown' },
    );
    await replicaStates.change(followed, 'Offline');
    requests.send();
    return replicas.filter(leads).map(({ partition }) => partition);
  }

  #byFate(replicas: readonly Replica[]): { readonly ofDeletion: Replica[]; readonly others: Replica[] } {
    const { context } = this.#parts;
    const isGoing = ({ partition }: Replica) => context.isMarkedForDeletion(partition.topic.name);
    return { ofDeletion: replicas.filter(isGoing), others: replicas.filter((replica) => !isGoing(replica)) };
  }
}

function leads({ partition, brokerId }: Replica): boolean {
  return partition.leadership?.leader === brokerId;
}
