// Takes what the leaders here want to change of their in-sync replicas to the controller. One request is under way at a time, with all that
// has gathered meanwhile. It is sent until a controller has answered: a leader that knows no answer has to take both sets for
// possible.

import {
  AlterPartitionRequest,
  AlterPartitionResponse,
  errorByCode,
  errorCodes,
  type Message,
  type MessageInit,
  zeroUuid,
} from '@odradek/protocol';
import type { Logger, Timer, TimerTask } from '@odradek/runtime';
import { afterRefusal } from './in-sync-replicas.ts';
import type { InSyncAnswer, InSyncProposal } from './reign.ts';

export const alterPartition = { request: AlterPartitionRequest, response: AlterPartitionResponse };

/** The request in the version that the controller speaks, none above `maxVersion`. Rejects when no controller could be asked. */
export type AskController = (
  request: (version: number) => MessageInit<typeof AlterPartitionRequest>,
  options: { readonly maxVersion?: number },
) => Promise<Message<typeof AlterPartitionResponse>>;

export interface AlterPartitionManagerParts {
  readonly brokerId: number;
  readonly brokerEpoch: () => number;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly ask: AskController;
}

interface Waiting {
  readonly proposal: InSyncProposal;
  readonly resolve: (answer: InSyncAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** Between two attempts: Kafka's, and then longer each time, as there may be no controller for a while. */
const firstRetryDelayMs = 50;
const longestRetryDelayMs = 1000;
/** Until a leader hears that the controller could not do what it asked for one partition. */
const repeatDelayMs = 200;
const lastVersionWithTopicNames = 1;
const firstVersionWithEpochs = 3;

export class AlterPartitionManager {
  readonly #parts: AlterPartitionManagerParts;
  /** At most one for each partition. */
  readonly #waiting = new Map<string, Waiting>();
  #isAsking = false;
  #retry: TimerTask | undefined;
  #retryDelayMs = firstRetryDelayMs;
  /** Why the last attempt failed, so that the same again is not logged. */
  #toldFailure = '';
  #isClosed = false;

  constructor(parts: AlterPartitionManagerParts) {
    this.#parts = parts;
  }

  /**
   * The controller's answer for the partition. OPERATION_NOT_ATTEMPTED while another proposal for it waits. Rejects when this is closed
   * before.
   */
  propose(proposal: InSyncProposal): Promise<InSyncAnswer> {
    if (this.#isClosed) return Promise.reject(new Error('The broker stops'));
    const key = keyOf(proposal);
    if (this.#waiting.has(key)) return Promise.resolve(refusal(errorCodes.OPERATION_NOT_ATTEMPTED));
    return new Promise((resolve, reject) => {
      this.#waiting.set(key, { proposal, resolve, reject });
      this.#begin();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#retry?.cancel();
    for (const { reject } of this.#waiting.values()) reject(new Error('The broker stops'));
    this.#waiting.clear();
  }

  #begin(): void {
    if (this.#isAsking || this.#retry !== undefined || this.#isClosed || this.#waiting.size === 0) return;
    this.#isAsking = true;
    // What comes up in this turn of the event loop goes along.
    this.#parts.timer.afterThisTurn(() => {
      this.#ask([...this.#waiting.values()]).then(
        (mayGoOn) => this.#asked(mayGoOn),
        (error: unknown) => {
          this.#tell(
            'The controller could not be asked to change in-sync replicas',
            error instanceof Error ? error.message : String(error),
          );
          this.#asked(false);
        },
      );
    });
  }

  #asked(mayGoOn: boolean): void {
    this.#isAsking = false;
    if (this.#isClosed) return;
    if (mayGoOn) {
      this.#retryDelayMs = firstRetryDelayMs;
      this.#toldFailure = '';
      this.#begin();
      return;
    }
    this.#retry = this.#parts.timer.schedule(this.#retryDelayMs, () => {
      this.#retry = undefined;
      this.#begin();
    });
    this.#retryDelayMs = Math.min(longestRetryDelayMs, this.#retryDelayMs * 2);
  }

  #tell(what: string, error: string): void {
    if (this.#toldFailure === error) return;
    this.#toldFailure = error;
    this.#parts.logger.warn(what, { error });
  }

  /** False: wait before asking again. */
  async #ask(asking: readonly Waiting[]): Promise<boolean> {
    const { brokerId, brokerEpoch, ask, logger } = this.#parts;
    if (asking.length === 0) return true;
    const hasIds = asking.every(({ proposal }) => proposal.topicId !== zeroUuid);
    const { errorCode, topics } = await ask(
      (version) => ({ brokerId, brokerEpoch: brokerEpoch(), topics: topicsOf(asking, version) }),
      hasIds ? {} : { maxVersion: lastVersionWithTopicNames },
    );
    if (errorCode !== errorCodes.NONE) {
      // STALE_BROKER_EPOCH: this broker is registering again, and will be asking under the new epoch.
      this.#tell('The controller does not change in-sync replicas', errorByCode(errorCode).name);
      return false;
    }
    const answers = new Map<string, InSyncAnswer>();
    for (const topic of topics) {
      for (const partition of topic.partitions) {
        const { topicName, topicId } = topic;
        answers.set(`${topicId === zeroUuid ? topicName : topicId}/${partition.partitionIndex}`, partition);
      }
    }
    let mayGoOn = true;
    for (const waiting of asking) {
      const { proposal } = waiting;
      const { topic, topicId, partition } = proposal;
      const answer = answers.get(`${topicId}/${partition}`) ?? answers.get(`${topic}/${partition}`);
      if (answer === undefined) {
        logger.warn('The controller did not answer for a partition; it is asked again', { topic, partition });
        mayGoOn = false;
        continue;
      }
      if (this.#waiting.get(keyOf(proposal)) === waiting) this.#waiting.delete(keyOf(proposal));
      // Who is about to repeat it is told later, and does not hold up the others.
      const isRepeated = answer.errorCode !== errorCodes.NONE && afterRefusal(answer.errorCode) === 'repeat';
      if (isRepeated) this.#parts.timer.schedule(repeatDelayMs, () => waiting.resolve(answer));
      else waiting.resolve(answer);
    }
    return mayGoOn;
  }
}

function keyOf({ topic, topicId, partition }: InSyncProposal): string {
  return `${topic}/${topicId}/${partition}`;
}

function refusal(errorCode: number): InSyncAnswer {
  return { errorCode, leaderEpoch: -1, isr: [], partitionEpoch: -1 };
}

function topicsOf(asking: readonly Waiting[], version: number): MessageInit<typeof AlterPartitionRequest>['topics'] {
  const topics = new Map<string, { topicName: string; topicId: string; partitions: ReturnType<typeof partitionOf>[] }>();
  for (const { proposal } of asking) {
    const { topic: topicName, topicId } = proposal;
    const key = `${topicName}/${topicId}`;
    const known = topics.get(key);
    if (known === undefined) topics.set(key, { topicName, topicId, partitions: [partitionOf(proposal, version)] });
    else known.partitions.push(partitionOf(proposal, version));
  }
  return [...topics.values()];
}

function partitionOf({ partition: partitionIndex, leaderEpoch, partitionEpoch, isr }: InSyncProposal, version: number) {
  // A leader has recovered from an unclean election once it can tell who is in sync with it.
  const state = { partitionIndex, leaderEpoch, partitionEpoch, leaderRecoveryState: 0 };
  return version >= firstVersionWithEpochs
    ? { ...state, newIsrWithEpochs: isr }
    : { ...state, newIsr: isr.map(({ brokerId }) => brokerId) };
}
