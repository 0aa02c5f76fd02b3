// One thing after the other: the controller's events. An event that fails is reported and the next one runs.

interface QueuedEvent {
  readonly name: string;
  readonly owner: object | undefined;
  readonly run: () => Promise<void>;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export class EventQueue {
  readonly #onError: (name: string, error: unknown) => void;
  #events: QueuedEvent[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(onError: (name: string, error: unknown) => void) {
    this.#onError = onError;
  }

  /** Adds an event. The promise settles when it has run; its failure is for whoever waits, and is not reported as well. */
  run(name: string, action: () => Promise<void>, owner?: object): Promise<void> {
    return new Promise((done, failed) => {
      if (this.#isClosed) {
        failed(new Error('The controller is stopping'));
        return;
      }
      this.#events.push({ name, owner, run: action, done, failed });
      this.#running ??= this.#work();
    });
  }

  /** Adds an event that nobody waits for. */
  post(name: string, action: () => Promise<void>, owner?: object): void {
    if (this.#isClosed) return;
    this.run(name, action, owner).catch((error: unknown) => this.#onError(name, error));
  }

  /**
   * Adds the event unless one of that name waits to be run: for news of which the last tells all. One that waits for another owner does not
   * count: that one's term may be over when its turn comes.
   */
  postOnce(name: string, action: () => Promise<void>, owner?: object): void {
    if (!this.#events.some((event) => event.name === name && event.owner === owner)) this.post(name, action, owner);
  }

  /** Nothing more is taken; what waits is dropped. Settles when the event that is running has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { failed } of this.#events.splice(0)) failed(new Error('The controller is stopping'));
    await this.#running;
  }

  async #work(): Promise<void> {
    for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) {
      try {
        await event.run();
        event.done();
      } catch (error) {
        event.failed(error);
      }
    }
    this.#running = undefined;
  }
}
