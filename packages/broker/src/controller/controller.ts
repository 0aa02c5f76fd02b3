// The controller: elects leaders, tells brokers, carries out what admin requests wrote into the tree. Every broker runs one;
// the one that holds /controller is active. One queue of events; everything happens in it, one after the other.

import type { Coordination } from '@odradek/coordination';
import type { Clock, Logger, Random, Timer } from '@odradek/runtime';
import type { BrokerChannel } from './broker-channel.ts';

export interface ControllerParts {
  readonly brokerId: number;
  readonly coordination: Coordination;
  readonly channel: BrokerChannel;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly logger: Logger;
  /** unclean.leader.election.enable of a topic. */
  readonly isUncleanElectionEnabled: (topic: string) => boolean;
}

export class Controller {
  constructor(_parts: ControllerParts) {
    throw new Error('not written yet');
  }

  /** Whether this broker is the active controller. */
  get isActive(): boolean {
    throw new Error('not written yet');
  }

  get epoch(): number {
    throw new Error('not written yet');
  }

  /** Stands for election, after the broker is registered. Settles when the outcome is known and, if won, all brokers have been told the state of things. */
  async start(): Promise<void> {
    throw new Error('not written yet');
  }

  /** Steps back and stops. */
  async close(): Promise<void> {
    throw new Error('not written yet');
  }
}
