// The notifications in the coordination tree that tell what has changed elsewhere in it: sequential nodes, in folders of their own. Whoever
// keeps a part of the tree in memory reads again what they name. They stay for a while, and whichever broker comes by removes the old ones.

import { type Coordination, InvalidNodeError, isCoordinationError, sequenceNumber } from '@odradek/coordination';
import type { Logger } from '@odradek/runtime';

export interface ChangeNotificationsParts<Change> {
  readonly coordination: Coordination;
  readonly logger: Logger;
  /** What changes, for the log. */
  readonly what: string;
  /** By its path: how a notification in the folder is read. */
  readonly folders: ReadonlyMap<string, (data: Buffer | null) => Change>;
  /** Reads everything; what changes meanwhile is notified of. */
  readonly readAll: () => Promise<void>;
  /** Reads what has changed, in the order in which it has. When that fails, the same changes come again. */
  readonly take: (changes: readonly Change[]) => Promise<void>;
}

/** How long a notification stays, for brokers that are starting; Kafka's. */
const lifeMs = 15 * 60 * 1000;

export class ChangeNotifications<Change> {
  readonly #parts: ChangeNotificationsParts<Change>;
  readonly #stopFollowing: () => void;
  /** The last notification taken, by folder. */
  readonly #taken = new Map<string, number>();
  /** Notifications are taken one round after the other. */
  #taking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: ChangeNotificationsParts<Change>) {
    this.#parts = parts;
    // What could not be read while the store was away is read when it is back.
    this.#stopFollowing = parts.coordination.onState((state) => {
      if (state === 'connected') this.#notified();
    });
  }

  /** Watches for changes and has everything read; to be called for each session, since the watches go with the one that was lost. */
  async begin(): Promise<void> {
    if (this.#isClosed) return;
    await this.#inTurn(async () => {
      const { coordination, folders, readAll } = this.#parts;
      // The watches first: what changes while everything is read is read again.
      for (const folder of folders.keys()) {
        const { names } = await coordination.children(folder, this.#notified);
        this.#taken.set(folder, Math.max(-1, ...names.map(sequenceNumber)));
      }
      await readAll();
    });
  }

  /** Settles when all that was announced before this call has been taken. */
  catchUp(): Promise<void> {
    return this.#inTurn(async () => {
      for (const [folder, decode] of this.#parts.folders) await this.#takeFolder(folder, decode);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#stopFollowing();
  }

  #inTurn(action: () => Promise<void>): Promise<void> {
    const round = this.#taking.then(action);
    this.#taking = round.catch(() => undefined);
    return round;
  }

  readonly #notified = (): void => {
    if (this.#isClosed) return;
    this.catchUp().catch((error: unknown) => {
      if (!isCoordinationError(error)) throw error;
      this.#parts.logger.error(`Changes of ${this.#parts.what} could not be read`, { error });
    });
  };

  async #takeFolder(folder: string, decode: (data: Buffer | null) => Change): Promise<void> {
    const { coordination, take } = this.#parts;
    const taken = this.#taken.get(folder) ?? -1;
    const { names } = await coordination.children(folder, this.#notified);
    const fresh = names.filter((name) => sequenceNumber(name) > taken).sort((a, b) => sequenceNumber(a) - sequenceNumber(b));
    if (fresh.length === 0) return;
    const nodes = await Promise.all(fresh.map((name) => this.#read(`${folder}/${name}`, decode)));
    await take(nodes.flatMap((node) => (node?.change === undefined ? [] : [node.change])));
    // Only now: when the store goes away in between, all of them are read again once it is back.
    this.#taken.set(folder, sequenceNumber(fresh.at(-1) ?? ''));
    await this.#removeOld(folder, names, Math.max(...nodes.map((node) => node?.createdMs ?? 0)));
  }

  /** undefined: another broker has removed it. */
  async #read(
    path: string,
    decode: (data: Buffer | null) => Change,
  ): Promise<{ readonly change: Change | undefined; readonly createdMs: number } | undefined> {
    try {
      const { data, stat } = await this.#parts.coordination.get(path);
      return { change: this.#decoded(path, () => decode(data)), createdMs: stat.createdMs };
    } catch (error) {
      if (isCoordinationError(error, 'NoNode')) return undefined;
      throw error;
    }
  }

  #decoded(path: string, decode: () => Change): Change | undefined {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof InvalidNodeError)) throw error;
      this.#parts.logger.error(`A notification of changed ${this.#parts.what} cannot be read`, { path, error });
      return undefined;
    }
  }

  async #removeOld(folder: string, names: readonly string[], nowMs: number): Promise<void> {
    const { coordination } = this.#parts;
    await Promise.all(
      names.map(async (name) => {
        const stat = await coordination.exists(`${folder}/${name}`);
        if (stat === undefined || stat.createdMs + lifeMs > nowMs) return;
        try {
          await coordination.delete(`${folder}/${name}`);
        } catch (error) {
          // Another broker was faster.
          if (!isCoordinationError(error, 'NoNode')) throw error;
        }
      }),
    );
  }
}
