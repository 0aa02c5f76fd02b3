// Group commit: everything that one turn of the event loop asks for goes to the journal in one write and one sync, and while
// that is under way the next group gathers. What is to be told to anybody waits in the group's outbox until it is durable.

import type { Timer } from '@odradek/runtime';

interface Group {
  readonly records: Buffer[];
  /** In the order in which things happened. Exactly one of the two is called. */
  readonly outbox: { readonly deliver: () => void; readonly fail: (error: unknown) => void }[];
  readonly undos: (() => void)[];
}

export class GroupCommit {
  readonly #timer: Timer;
  /** Makes the records durable. Called for one group at a time, and before anything of the next group has happened. */
  readonly #write: (records: readonly Buffer[]) => Promise<void>;
  /** Gathers; it may hold deliveries only when no write is under way. */
  #gathering: Group | undefined;
  #writing: Group | undefined;
  #idle: (() => void)[] = [];

  constructor(timer: Timer, write: (records: readonly Buffer[]) => Promise<void>) {
    this.#timer = timer;
    this.#write = write;
  }

  /** A record to be written, and how to undo what it says should that fail. */
  add(record: Buffer, undo: () => void): void {
    const group = this.#gather();
    group.records.push(record);
    group.undos.push(undo);
  }

  /** Something else to undo should the group that is now last fail: a watch that was set or has fired. */
  onFailure(undo: () => void): void {
    (this.#gathering ?? this.#writing)?.undos.push(undo);
  }

  /** Calls `deliver` when everything before it is durable, at once when it is; or `fail`. */
  tell(deliver: () => void, fail: (error: unknown) => void): void {
    const group = this.#gathering ?? this.#writing;
    if (group === undefined) deliver();
    else group.outbox.push({ deliver, fail });
  }

  /** Settles when nothing is being written or waits to be. */
  async idle(): Promise<void> {
    if (this.#gathering === undefined && this.#writing === undefined) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #gather(): Group {
    if (this.#gathering === undefined) {
      this.#gathering = { records: [], outbox: [], undos: [] };
      if (this.#writing === undefined) this.#timer.afterThisTurn(() => void this.#commit());
    }
    return this.#gathering;
  }

  async #commit(): Promise<void> {
    while (this.#gathering !== undefined) {
      const group = this.#gathering;
      this.#gathering = undefined;
      this.#writing = group;
      let failure: { readonly error: unknown } | undefined;
      try {
        await this.#write(group.records);
      } catch (error) {
        failure = { error };
      }
      if (failure !== undefined) this.#fail(group, failure.error);
      else {
        this.#writing = undefined;
        for (const { deliver } of group.outbox) deliver();
      }
    }
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** What has gathered meanwhile builds on what failed, so it fails as well. */
  #fail(written: Group, error: unknown): void {
    const groups = this.#gathering === undefined ? [written] : [written, this.#gathering];
    this.#gathering = undefined;
    this.#writing = undefined;
    for (const group of [...groups].reverse()) {
      for (const undo of group.undos.reverse()) undo();
    }
    for (const group of groups) {
      for (const { fail } of group.outbox) fail(error);
    }
  }
}
