// A whole world from one seed: time, chance, and machines with their disks on one network. The same seed and the same program
// give the same run, failures included.

import { createLogger, type Logger, type LogLevel, MetricsTable, type Network, SeededRandom, type World } from '@odradek/runtime';
import { type CrashLeaves, SimulatedDisk } from './simulated-disk.ts';
import { type NetworkFaults, SimulatedNetwork } from './simulated-network.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { promisesSettled, SimulatedClock, SimulatedTime, SimulatedTimer } from './simulated-time.ts';

export interface SimulatedWorldOptions {
  readonly seed: number;
  /** Wall time at the start; default 2025-01-01. */
  readonly wallStartMs?: number;
  readonly network?: Partial<NetworkFaults>;
  /** How long a disk call that does not block takes. */
  readonly diskDelayMs?: { readonly min: number; readonly max: number };
  readonly logLevel?: LogLevel;
}

const homeName = '127.0.0.1';

/** The world, and at the same time the parts of its first machine, which is all that most tests need. */
export class SimulatedWorld implements World {
  readonly seed: number;
  readonly random: SeededRandom;
  /** Change `faults.…` of it as the test goes; `partition`, `cutOneWay`, `heal`. */
  readonly simulatedNetwork: SimulatedNetwork;
  /** All that was logged, by all machines. */
  readonly logText: string[] = [];
  /** Called after each turn, to look whether all is as it must be; what it throws ends `advance` or `runUntil`. */
  onTurn: () => void = () => undefined;
  readonly #options: SimulatedWorldOptions;
  readonly #diskDelaysMs = new Map<string, { readonly min: number; readonly max: number }>();
  readonly #time = new SimulatedTime();
  readonly #machines = new Map<string, SimulatedMachine>();

  constructor(options: SimulatedWorldOptions) {
    this.#options = options;
    this.seed = options.seed;
    this.random = new SeededRandom(options.seed);
    const processOf = (name: string): SimulatedProcess => this.machine(name).process;
    this.simulatedNetwork = new SimulatedNetwork(this.#time, this.#newRandom(), processOf, options.network);
  }

  /** The machine of that name; its name is its address. It is there from the first time that it is asked for. */
  machine(name: string): SimulatedMachine {
    let machine = this.#machines.get(name);
    if (machine === undefined) {
      const process = new SimulatedProcess(this.#time);
      machine = this.#boot(name, this.#newDisk(name), process);
      this.#machines.set(name, machine);
    }
    return machine;
  }

  /**
   * Ends all that runs on a machine at once, as a power cut or, when the disk loses nothing (`everything` is left), as kill -9.
   * `machine(name)` is then a fresh one with the same disk; whoever holds the old one hears nothing any more.
   */
  crash(name: string = homeName, leaves: CrashLeaves = 'something'): SimulatedMachine {
    const { timer, fileSystem, process } = this.machine(name);
    process.kill();
    timer.close();
    this.simulatedNetwork.crash(name);
    fileSystem.crash(leaves);
    const machine = this.#boot(name, fileSystem, new SimulatedProcess(this.#time));
    this.#machines.set(name, machine);
    return machine;
  }

  /** The program on the machine stops where it is and hears of nothing until `resume`. */
  pause(name: string): void {
    this.machine(name).process.pause();
  }

  resume(name: string): void {
    this.machine(name).process.resume();
  }

  /** From now on the machine's disk takes so long for a call that does not block; as at the start where nothing is given. */
  setDiskDelay(name: string, delayMs?: { readonly min: number; readonly max: number }): void {
    if (delayMs === undefined) this.#diskDelaysMs.delete(name);
    else this.#diskDelaysMs.set(name, delayMs);
  }

  get clock(): SimulatedClock {
    return this.machine(homeName).clock;
  }

  get timer(): SimulatedTimer {
    return this.machine(homeName).timer;
  }

  get fileSystem(): SimulatedDisk {
    return this.machine(homeName).fileSystem;
  }

  get network(): Network {
    return this.machine(homeName).network;
  }

  get logger(): Logger {
    return this.machine(homeName).logger;
  }

  get metrics(): MetricsTable {
    return this.machine(homeName).metrics;
  }

  /** Lets all happen that happens in that time. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#time.nowMs + ms;
    await promisesSettled();
    for (let nextMs = this.#time.nextMs; nextMs !== undefined && nextMs <= endMs; nextMs = this.#time.nextMs) {
      await this.#runTurn();
    }
    this.#time.moveTo(endMs);
  }

  /** Lets things happen until the condition holds. Fails when they come to an end before, or when `limitMs` have passed. */
  async runUntil(condition: () => boolean, limitMs = 60_000): Promise<void> {
    const endMs = this.#time.nowMs + limitMs;
    await promisesSettled();
    while (!condition()) {
      const nextMs = this.#time.nextMs;
      if (nextMs === undefined || nextMs > endMs) {
        const reason = nextMs === undefined ? 'nothing is left to happen' : `${limitMs} ms have passed`;
        throw new Error(`The condition does not hold and ${reason} (seed ${this.seed}): ${condition}`);
      }
      await this.#runTurn();
    }
  }

  /** Lets things happen until the promise is settled, and returns what it gives. */
  async run<T>(promise: Promise<T>, limitMs?: number): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await this.runUntil(() => isSettled, limitMs);
    return promise;
  }

  async #runTurn(): Promise<void> {
    await this.#time.runTurn();
    this.onTurn();
  }

  #boot(name: string, fileSystem: SimulatedDisk, process: SimulatedProcess): SimulatedMachine {
    const clock = new SimulatedClock(this.#time, this.#wallStartMs);
    return {
      name,
      process,
      clock,
      timer: new SimulatedTimer(this.#time, process),
      fileSystem,
      network: this.simulatedNetwork.host(name),
      random: this.#newRandom(),
      logger: createLogger({ level: this.#options.logLevel ?? 'info', clock, write: (text) => this.logText.push(text) }),
      metrics: new MetricsTable(),
    };
  }

  #newDisk(machineName: string): SimulatedDisk {
    const random = this.#newRandom();
    return new SimulatedDisk({
      random,
      clock: new SimulatedClock(this.#time, this.#wallStartMs),
      complete: (action) => {
        const { process } = this.machine(machineName);
        const { min, max } = this.#diskDelaysMs.get(machineName) ?? this.#options.diskDelayMs ?? { min: 0, max: 2 };
        this.#time.schedule(min + random.next() * (max - min), () => process.run(action));
      },
    });
  }

  get #wallStartMs(): number {
    return this.#options.wallStartMs ?? Date.UTC(2025, 0, 1);
  }

  /** Each part draws for itself, so that one more draw in one place leaves the others as they were. */
  #newRandom(): SeededRandom {
    return new SeededRandom(this.random.nextInt(2 ** 32));
  }
}

export interface SimulatedMachine extends World {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly clock: SimulatedClock;
  readonly timer: SimulatedTimer;
  readonly fileSystem: SimulatedDisk;
  readonly metrics: MetricsTable;
}
