// The office of the controller: standing for election, taking office, giving it up, and beginning anew when the tree was out of reach.
// One queue of events; everything happens in it, one after the other.
//
// While the tree is out of reach events wait for it, as in Kafka. When the session may be over, somebody else may be the controller: the
// broker acts as one no more, and whoever has asked it for something is told to look for another. When it turns out that the session has
// gone on, so does the term, from what the tree says then.

import { type Coordination, controllerEpochNode, controllerNode, featureNode, isCoordinationError } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { Clock, Logger, Timer, TimerTask } from '@odradek/runtime';
import { ActiveController, type LeaderBalance } from './active-controller.ts';
import type { BrokerChannel } from './broker-channel.ts';
import { ControllerMovedError } from './controller-tree.ts';
import { coordinationFailure } from './coordination-failure.ts';
import { EventQueue } from './event-queue.ts';

export interface ControllerParts {
  readonly brokerId: number;
  readonly interBrokerListenerName: string;
  readonly coordination: Coordination;
  readonly channel: BrokerChannel;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  /** unclean.leader.election.enable of a topic. */
  readonly isUncleanElectionEnabled: (topic: string) => boolean;
  /** delete.topic.enable */
  readonly isTopicDeletionEnabled: () => boolean;
  /** Makes known the configs of topics that this broker has not seen. */
  readonly loadTopicConfigs: (topics: Iterable<string>) => Promise<void>;
  /** For a topic whose node has none: the id that it is known by already, or a new one. */
  readonly topicIdFor: (topic: string, partitions: Iterable<number>) => string;
  readonly leaderBalance: () => LeaderBalance;
}

/** After the tree could not be read or written: how long until everything is looked at anew. It doubles each time that fails too. */
const firstStartOverDelayMs = 250;
const longestStartOverDelayMs = 30_000;

export class ControllerOffice {
  readonly #parts: ControllerParts;
  readonly #queue: EventQueue;
  #active: ActiveController | undefined;
  #isClosed = false;
  #startOverDelayMs = firstStartOverDelayMs;
  /** Set while a start is due, with its timer. */
  #startOverNow: (() => void) | undefined;
  #startOverTask: TimerTask | undefined;
  /** The session may be over, and with it a term of this broker. */
  #isResting = false;
  /** Those who wait for something that was asked of the controller. */
  readonly #askers = new Set<() => void>();

  constructor(parts: ControllerParts) {
    this.#parts = parts;
    this.#queue = new EventQueue((name, error) => this.#eventFailed(name, error));
  }

  /** This broker's term, while it has the office. */
  get active(): ActiveController | undefined {
    return this.#active;
  }

  /** Stands for election, after the broker is registered. Settles when the outcome is known and, if won, this broker has been told the state of things. */
  async start(): Promise<void> {
    this.#parts.coordination.onState((state) => {
      if (state === 'closed') this.#queue.post('session over', async () => this.#resign());
      if (state === 'lapsed' || state === 'expired') this.#rest();
      if (state === 'connected') this.#goOn();
    });
    await this.#stand(() => this.#elect());
    await this.#active?.answered(this.#parts.brokerId);
  }

  /** The session is over, and so is this broker's term. Settles when nothing is done in its name any more. */
  async sessionLost(): Promise<void> {
    if (this.#isClosed) return;
    await this.#queue.run('session lost', async () => this.#resign());
  }

  /** This broker is registered in a new session, and stands for election again. */
  async sessionRenewed(): Promise<void> {
    if (!this.#isClosed) await this.#stand(() => this.#standAgain());
  }

  /** A store that is away for a moment holds up the election, and nothing else. */
  async #stand(elect: () => Promise<void>): Promise<void> {
    try {
      await this.#queue.run('election', elect);
    } catch (error) {
      if (!isCoordinationError(error, 'ConnectionLoss', 'SessionExpired')) throw error;
      this.#eventFailed('election', error);
    }
  }

  /** Does nothing more. The office is free when the session ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#startOverTask?.cancel();
    this.#resign();
    await this.#queue.close();
  }

  /**
   * Does something for whoever asked, in its turn. Throws NOT_CONTROLLER, also when this broker may be the controller no more, and
   * KAFKA_STORAGE_ERROR when the store fails.
   */
  async whileActive<T>(name: string, action: (active: ActiveController) => Promise<T>): Promise<T> {
    const { state } = this.#parts.coordination;
    // A process that was stopped finds this out before it hears of it.
    if (state === 'lapsed' || state === 'expired') throw new ProtocolError(errorCodes.NOT_CONTROLLER);
    const outcome = Promise.withResolvers<T>();
    const leave = (): void => outcome.reject(new ProtocolError(errorCodes.NOT_CONTROLLER));
    this.#askers.add(leave);
    const event = this.#queue.run(name, async () => {
      if (this.#active === undefined) throw new ProtocolError(errorCodes.NOT_CONTROLLER);
      if (!this.#active.isLoaded) {
        throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, 'The coordination tree cannot be read at the moment.');
      }
      outcome.resolve(await this.#act(this.#active, action));
    });
    // When this broker stops, whatever it was, somebody else will be the controller.
    event.catch((error: unknown) => (this.#isClosed ? leave() : outcome.reject(error)));
    try {
      return await outcome.promise;
    } finally {
      this.#askers.delete(leave);
    }
  }

  async #act<T>(active: ActiveController, action: (active: ActiveController) => Promise<T>): Promise<T> {
    try {
      return await action(active);
    } catch (error) {
      if (error instanceof ControllerMovedError) {
        await this.#standAgain();
        throw new ProtocolError(errorCodes.NOT_CONTROLLER);
      }
      if (isCoordinationError(error, 'ConnectionLoss')) this.#startOverSoon();
      // It may be done or not; who asks again hears of it from a controller that knows.
      if (isCoordinationError(error, 'SessionExpired'))
        throw new ProtocolError(errorCodes.NOT_CONTROLLER, undefined, { cause: error });
      throw coordinationFailure(error);
    } finally {
      active.discardRequests();
    }
  }

  /** Adds an event that matters only to a controller in office, unless one of that name waits. */
  postOnce(name: string, action: (active: ActiveController) => Promise<void>): void {
    this.#queue.postOnce(name, async () => {
      if (this.#active?.isLoaded === true) await action(this.#active);
    });
  }

  async #elect(): Promise<void> {
    const { brokerId, coordination, clock, logger } = this.#parts;
    if (this.#isClosed || this.#active !== undefined) return;
    const current = await coordination.exists(controllerNode.path, this.#controllerChanged);
    if (current?.ephemeralOwner === coordination.sessionId) {
      // An office that this broker has, and did not enter or has rested from: nobody can have been elected since.
      const { epoch, version } = await this.#readEpoch();
      await this.#takeOffice(epoch, version);
      return;
    }
    if (current !== undefined) {
      const { data } = await coordination.get(controllerNode.path);
      logger.info('Another broker is the controller', { controller: controllerNode.decode(data).brokerId });
      return;
    }
    const { epoch, version } = await this.#readEpoch();
    try {
      await coordination.multi([
        {
          type: 'create',
          path: controllerNode.path,
          data: controllerNode.encode({ brokerId, timestamp: clock.wallTimeMs() }),
          ephemeral: true,
        },
        { type: 'set', path: controllerEpochNode.path, data: controllerEpochNode.encode(epoch + 1), version },
      ]);
    } catch (error) {
      // Somebody was faster. The watch tells of the end of their term.
      if (isCoordinationError(error, 'NodeExists', 'BadVersion')) return;
      throw error;
    }
    await this.#takeOffice(epoch + 1, version + 1);
  }

  async #takeOffice(epoch: number, epochNodeVersion: number): Promise<void> {
    const { brokerId, coordination, logger } = this.#parts;
    logger.info('This broker is the controller', { broker: brokerId, controllerEpoch: epoch });
    try {
      await coordination.create(featureNode.path, featureNode.encode({ features: new Map(), isEnabled: true }));
    } catch (error) {
      if (!isCoordinationError(error, 'NodeExists')) throw error;
    }
    const active = new ActiveController({ ...this.#parts, queue: this.#queue, epoch, epochNodeVersion });
    this.#active = active;
    try {
      await active.start();
    } catch (error) {
      // A controller that does not know the whole must not act. Without the office someone else can try.
      if (this.#active === active) this.#resign();
      if (!isOutOfReach(error)) await this.#leaveOffice(epochNodeVersion);
      throw error;
    }
  }

  /** The office of another, who has been elected since, stays theirs. */
  async #leaveOffice(epochNodeVersion: number): Promise<void> {
    try {
      await this.#parts.coordination.multi([
        { type: 'check', path: controllerEpochNode.path, version: epochNodeVersion },
        { type: 'delete', path: controllerNode.path, version: -1 },
      ]);
    } catch (error) {
      if (!isCoordinationError(error, 'BadVersion', 'NoNode')) throw error;
    }
  }

  /** The epoch so far and the version of its node, which is created by the first controller. */
  async #readEpoch(): Promise<{ readonly epoch: number; readonly version: number }> {
    const { coordination } = this.#parts;
    try {
      await coordination.create(controllerEpochNode.path, controllerEpochNode.encode(0));
    } catch (error) {
      if (!isCoordinationError(error, 'NodeExists')) throw error;
    }
    const { data, stat } = await coordination.get(controllerEpochNode.path);
    return { epoch: controllerEpochNode.decode(data), version: stat.version };
  }

  readonly #controllerChanged = (): void =>
    this.#queue.postOnce('controller changed', async () => {
      const { coordination } = this.#parts;
      const stat = await coordination.exists(controllerNode.path, this.#controllerChanged);
      // The node that this broker's own election created.
      if (this.#active !== undefined && stat?.ephemeralOwner === coordination.sessionId) return;
      await this.#standAgain();
    });

  /** Somebody else holds the office, or nobody does. */
  async #standAgain(): Promise<void> {
    this.#resign();
    await this.#elect();
  }

  /** What was being done may be half done, and watches may be lost: the same term begins again from what the tree says. */
  #startOverSoon(): void {
    if (this.#startOverNow !== undefined || this.#isClosed) return;
    const active = this.#active;
    const delayMs = this.#startOverDelayMs;
    this.#startOverDelayMs = Math.min(2 * delayMs, longestStartOverDelayMs);
    this.#startOverTask = this.#parts.timer.schedule(delayMs, () => this.#startOverNow?.());
    this.#startOverNow = () => {
      this.#startOverTask?.cancel();
      this.#startOverNow = undefined;
      this.#queue.postOnce('start over', async () => {
        const now = this.#active;
        // Another term that has begun since is another matter, unless it could not begin either.
        if (this.#isClosed || (now !== active && now?.isLoaded !== false)) return;
        if (now === undefined) return this.#elect();
        now.end();
        const { controllerEpoch, epochNodeVersion } = now.context;
        this.#active = new ActiveController({ ...this.#parts, queue: this.#queue, epoch: controllerEpoch, epochNodeVersion });
        await this.#active.start();
        this.#startOverDelayMs = firstStartOverDelayMs;
      });
    };
  }

  /** Others may have been told that this broker is gone. */
  #rest(): void {
    for (const leave of this.#askers) leave();
    if (this.#active === undefined) return;
    this.#parts.logger.info('This broker may be the controller no more, and does nothing as one until it knows', {
      broker: this.#parts.brokerId,
    });
    this.#active.end();
    this.#active = undefined;
    this.#isResting = true;
  }

  /** The session has gone on: what has failed or rested meanwhile need not wait any longer. */
  #goOn(): void {
    this.#startOverNow?.();
    if (!this.#isResting) return;
    this.#isResting = false;
    this.#queue.postOnce('election', async () => {
      if (this.#active === undefined) await this.#elect();
    });
  }

  #resign(): void {
    this.#isResting = false;
    if (this.#active === undefined) return;
    this.#parts.logger.info('This broker is the controller no more', { broker: this.#parts.brokerId });
    this.#active.end();
    this.#active = undefined;
  }

  #eventFailed(name: string, error: unknown): void {
    if (this.#isClosed) return;
    if (error instanceof ControllerMovedError) this.#queue.postOnce('controller moved', () => this.#standAgain());
    else if (isCoordinationError(error, 'SessionExpired')) {
      // In a new session this broker stands again.
      this.#parts.logger.info('An event of the controller has ended with the session', { event: name });
    } else {
      if (isOutOfReach(error))
        this.#parts.logger.warn('An event of the controller waits for the coordination store', { event: name });
      else this.#parts.logger.error('The controller could not deal with an event', { event: name, error });
      if (isOutOfReach(error) || this.#active?.isLoaded === false) this.#startOverSoon();
    }
  }
}

function isOutOfReach(error: unknown): boolean {
  return isCoordinationError(error, 'ConnectionLoss', 'SessionExpired');
}
