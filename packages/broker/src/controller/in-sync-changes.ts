// Carries out what leaders want to change of their in-sync replicas: decides about each, writes what may be written, and tells everyone.

import { isCoordinationError } from '@odradek/coordination';
import { errorCodes } from '@odradek/protocol';
import type { BrokerRequests } from './broker-requests.ts';
import type { ControllerContext, Leadership, PartitionContext } from './controller-context.ts';
import type { ControllerTree, LeadershipWrite } from './controller-tree.ts';
import { decideAlteration, type IsrAlteration } from './isr-alterations.ts';
import { isBeingReassigned } from './reassignment-plan.ts';

/** An alteration of a partition that exists. */
export interface PlacedAlteration extends IsrAlteration {
  readonly context: PartitionContext;
  readonly isEligible: (replica: number) => boolean;
}

/** The leadership that holds now, or why it was not changed. */
export type IsrOutcome =
  | { readonly leadership: Leadership; readonly errorCode?: undefined }
  | { readonly leadership?: undefined; readonly errorCode: number };

export interface InSyncChangesParts {
  readonly context: ControllerContext;
  readonly tree: ControllerTree;
  readonly requests: BrokerRequests;
  /** Called for partitions that are being moved: a replica that they wait for may have caught up. */
  readonly onChange: (partitions: readonly PartitionContext[]) => void;
}

export class InSyncChanges {
  readonly #parts: InSyncChangesParts;

  constructor(parts: InSyncChangesParts) {
    this.#parts = parts;
  }

  /** What became of each, in order. */
  async alter(alterations: readonly PlacedAlteration[], ineligibleCode: number): Promise<IsrOutcome[]> {
    const outcomes = new Map<PartitionContext, IsrOutcome>();
    const writes: LeadershipWrite[] = [];
    for (const alteration of alterations) {
      const decided = this.#decide(alteration, ineligibleCode);
      if ('partition' in decided) writes.push(decided);
      else outcomes.set(alteration.context, decided);
    }
    for (const [partition, outcome] of await this.#write(writes)) outcomes.set(partition, outcome);
    return alterations.map(({ context }) => outcomes.get(context) ?? { errorCode: errorCodes.UNKNOWN_SERVER_ERROR });
  }

  #decide(alteration: PlacedAlteration, ineligibleCode: number): LeadershipWrite | IsrOutcome {
    const { context: partition, isEligible } = alteration;
    const { leadership } = partition;
    if (leadership === undefined) return { errorCode: errorCodes.UNKNOWN_TOPIC_OR_PARTITION };
    const { controllerEpoch } = this.#parts.context;
    const decision = decideAlteration(alteration, leadership, { controllerEpoch, isEligible, ineligibleCode });
    switch (decision.type) {
      case 'refused':
        return { errorCode: decision.errorCode };
      case 'unchanged':
        return { leadership };
      case 'write':
        return { partition, leadership: decision.leadership };
    }
  }

  async #write(writes: readonly LeadershipWrite[]): Promise<[PartitionContext, IsrOutcome][]> {
    const { context, tree, requests, onChange } = this.#parts;
    const changed: PartitionContext[] = [];
    const outcomes = (await tree.updateLeaderships(writes)).map((outcome): [PartitionContext, IsrOutcome] => {
      const { partition } = outcome;
      if ('error' in outcome) {
        const isOvertaken = isCoordinationError(outcome.error, 'BadVersion');
        return [partition, { errorCode: isOvertaken ? errorCodes.INVALID_UPDATE_VERSION : errorCodes.UNKNOWN_SERVER_ERROR }];
      }
      partition.leadership = outcome.leadership;
      changed.push(partition);
      return [partition, { leadership: outcome.leadership }];
    });
    if (changed.length > 0) {
      requests.addMetadata(context.liveBrokerIds(), changed);
      requests.send();
      const moving = changed.filter(isBeingReassigned);
      if (moving.length > 0) onChange(moving);
    }
    return outcomes;
  }
}
