// The office of the controller: standing for election, taking office, giving it up, and beginning anew when the tree was out of reach.
// One queue of events; everything happens in it, one after the other.

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
      // What failed meanwhile need not wait any longer.
      if (state === 'connected') this.#startOverNow?.();
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

  /** Does something for whoever asked, in its turn. Throws NOT_CONTROLLER, or KAFKA_STORAGE_ERROR while the tree is out of reach. */
  async whileActive<T>(name: string, action: (active: ActiveController) => Promise<T>): Promise<T> {
    let result: { readonly value: T } | undefined;
    const event = this.#queue.run(name, async () => {
      if (this.#active === undefined) throw new ProtocolError(errorCodes.NOT_CONTROLLER);
      if (!this.#active.isLoaded) {
        throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, 'The coordination tree cannot be read at the moment.');
      }
      result = { value: await this.#act(this.#active, action) };
    });
    try {
      await event;
    } catch (error) {
      // Whatever it was, this broker stops, and somebody else will be the controller.
      throw this.#isClosed ? new ProtocolError(errorCodes.NOT_CONTROLLER) : error;
    }
    return (result as { readonly value: T }).value;
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
    if (this.#isClosed) return;
    const current = await coordination.exists(controllerNode.path, this.#controllerChanged);
    if (current?.ephemeralOwner === coordination.sessionId) {
      // An office that this broker took and could not enter.
      await coordination.delete(controllerNode.path);
    } else if (current !== undefined) {
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
      this.#resign();
      if (!(error instanceof ControllerMovedError)) await coordination.delete(controllerNode.path);
      throw error;
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

  #resign(): void {
    if (this.#active === undefined) return;
    this.#parts.logger.info('This broker is the controller no more', { broker: this.#parts.brokerId });
    this.#active.end();
    this.#active = undefined;
  }

  #eventFailed(name: string, error: unknown): void {
    if (this.#isClosed) return;
    if (error instanceof ControllerMovedError) this.#queue.postOnce('controller moved', () => this.#standAgain());
    else {
      this.#parts.logger.error('The controller could not deal with an event', { event: name, error });
      if (isCoordinationError(error, 'ConnectionLoss') || this.#active?.isLoaded === false) this.#startOverSoon();
    }
  }
}
