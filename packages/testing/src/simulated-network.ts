// A network between simulated machines: streams as TCP has them, over links that are slow, cut or one-way.
//
// Each direction of a stream keeps its order, and each draws its own delays, so chunks of different streams overtake one another.
// On a blocked link chunks wait, as those that TCP sends again and again; they arrive when the link is back.

import type { ByteStream, Listener, ListenOptions, Network, Random, StreamReceiver } from '@odradek/runtime';
import type { SimulatedProcess } from './simulated-process.ts';
import { networkError, SimulatedStream } from './simulated-stream.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** Everything that can go wrong. Replace any of it at any time. */
export interface NetworkFaults {
  /** Each chunk takes between these on its way, one way. */
  minDelayMs: number;
  maxDelayMs: number;
  /** The chance that a chunk is lost for good and the stream with it: both ends see ECONNRESET. */
  cutProbability: number;
  /** The chance that a chunk arrives in two pieces. */
  splitProbability: number;
  /** Links that carry nothing, from and to a host; `*` is any. */
  blocked: readonly { readonly from: string; readonly to: string }[];
}

export class SimulatedNetwork {
  readonly faults: NetworkFaults = { minDelayMs: 0, maxDelayMs: 1, cutProbability: 0, splitProbability: 0.1, blocked: [] };
  readonly random: Random;
  readonly time: SimulatedTime;
  /** The program that runs on a machine now. */
  readonly processOf: (machine: string) => SimulatedProcess;
  readonly #listeners = new Map<string, SimulatedListener>();
  readonly #streams = new Set<SimulatedStream>();
  #nextPort = 40_000;

  constructor(
    time: SimulatedTime,
    random: Random,
    processOf: (machine: string) => SimulatedProcess,
    faults: Partial<NetworkFaults> = {},
  ) {
    this.time = time;
    this.random = random;
    this.processOf = processOf;
    Object.assign(this.faults, faults);
  }

  /** The network as a machine of that name sees it. */
  host(name: string): Network {
    return {
      listen: (options, accept) => this.#listen(name, options, accept),
      connect: (options, receiver) => this.#connect(name, options, receiver),
    };
  }

  /** No link between the two groups works, either way. */
  partition(group: readonly string[], others: readonly string[]): void {
    const links = group.flatMap((from) =>
      others.flatMap((to) => [
        { from, to },
        { from: to, to: from },
      ]),
    );
    this.faults.blocked = [...this.faults.blocked, ...links];
  }

  /** The link from one host to another carries nothing; the way back still does. */
  cutOneWay(from: string, to: string): void {
    this.faults.blocked = [...this.faults.blocked, { from, to }];
  }

  /** The link from one host to another works again, as far as `cutOneWay` had cut it once. */
  restoreOneWay(from: string, to: string): void {
    const index = this.faults.blocked.findIndex((link) => link.from === from && link.to === to);
    this.faults.blocked = this.faults.blocked.filter((_, other) => other !== index);
    this.#pumpAll();
  }

  /** All links work again; what waited goes on its way. */
  heal(): void {
    this.faults.blocked = [];
    this.#pumpAll();
  }

  #pumpAll(): void {
    for (const stream of this.#streams) {
      stream.pump();
    }
  }

  isBlocked(from: string, to: string): boolean {
    return this.faults.blocked.some((link) => (link.from === '*' || link.from === from) && (link.to === '*' || link.to === to));
  }

  delayMs(): number {
    const { minDelayMs, maxDelayMs } = this.faults;
    return minDelayMs + this.random.next() * (maxDelayMs - minDelayMs);
  }

  /** The machine is gone: nobody listens, its own program hears nothing any more, its peers see their streams reset. */
  crash(host: string): void {
    for (const [key, listener] of this.#listeners) {
      if (listener.machine === host) {
        this.#listeners.delete(key);
      }
    }
    for (const stream of this.#streams) {
      if (stream.machine === host) {
        this.#streams.delete(stream);
        stream.crash();
      }
    }
  }

  forget(stream: SimulatedStream): void {
    this.#streams.delete(stream);
  }

  #listen(machine: string, options: ListenOptions, accept: (stream: ByteStream) => StreamReceiver): Promise<Listener> {
    const port = options.port === 0 ? this.#nextPort++ : options.port;
    const key = `${machine}:${port}`;
    if (this.#listeners.has(key)) {
      return Promise.reject(networkError('EADDRINUSE', `listen EADDRINUSE: address already in use ${options.host}:${port}`));
    }
    const close = (): Promise<void> => {
      this.#listeners.delete(key);
      return Promise.resolve();
    };
    const listener: SimulatedListener = { machine, host: options.host, port, accept, close };
    this.#listeners.set(key, listener);
    return Promise.resolve(listener);
  }

  #connect(
    machine: string,
    options: { readonly host: string; readonly port: number; readonly timeoutMs?: number },
    receiver: (stream: ByteStream) => StreamReceiver,
  ): Promise<ByteStream> {
    const { port, timeoutMs = 60_000 } = options;
    const target = ['localhost', '127.0.0.1', '::1'].includes(options.host) ? machine : options.host;
    return new Promise((resolve, reject) => {
      const own = this.processOf(machine);
      const cancelTimeout = this.time.schedule(timeoutMs, () => {
        isWanted = false;
        own.run(() => reject(networkError('ETIMEDOUT', `connect ETIMEDOUT ${target}:${port}`)));
      });
      let isWanted = true;
      const attempt = (): void => {
        if (!isWanted) {
          return;
        }
        if (this.isBlocked(machine, target) || this.isBlocked(target, machine)) {
          this.time.schedule(10, attempt); // The first packet is sent again and again.
          return;
        }
        cancelTimeout();
        const listener = this.#listeners.get(`${target}:${port}`);
        if (listener === undefined) {
          own.run(() => reject(networkError('ECONNREFUSED', `connect ECONNREFUSED ${target}:${port}`)));
          return;
        }
        const [near, far] = this.#openStreams(machine, target, port);
        // The system accepts, whether or not the program runs.
        this.processOf(target).run(() => far.attach(listener.accept(far)));
        own.run(() => {
          near.attach(receiver(near));
          resolve(near);
        });
      };
      this.time.schedule(this.delayMs() * 2, attempt);
    });
  }

  #openStreams(machine: string, target: string, port: number): [SimulatedStream, SimulatedStream] {
    const nearPort = this.#nextPort++;
    const near = new SimulatedStream(this, { machine, port: nearPort, peer: target, peerPort: port });
    const far = new SimulatedStream(this, { machine: target, port, peer: machine, peerPort: nearPort });
    near.join(far);
    far.join(near);
    this.#streams.add(near).add(far);
    return [near, far];
  }
}

interface SimulatedListener extends Listener {
  readonly machine: string;
  readonly accept: (stream: ByteStream) => StreamReceiver;
}
