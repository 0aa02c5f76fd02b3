// A server in a process of its own, which tests start, kill, stop and pause. It never outlives the test, however that ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { until } from './until.ts';

export interface ServerProcessOptions {
  /** For messages, as `the broker`. */
  readonly name: string;
  readonly host?: string;
  readonly port: number;
  readonly startTimeoutMs?: number;
}

export interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const keptOutput = 256 * 1024;

export class ServerProcess {
  readonly host: string;
  readonly port: number;
  readonly #name: string;
  readonly #startTimeoutMs: number;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(options: ServerProcessOptions) {
    this.#name = options.name;
    this.host = options.host ?? '127.0.0.1';
    this.port = options.port;
    this.#startTimeoutMs = options.startTimeoutMs ?? 60_000;
  }

  /** Of the process that runs, or has just ended. */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.#name} is not running`);
    return pid;
  }

  /** What it has printed since its last start, standard output and error mixed; the last 256 KiB. */
  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get exitCode(): number | null {
    return this.#child?.exitCode ?? null;
  }

  /** Starts it and returns at once. */
  spawn({ program, args, cwd, env }: ServerCommand): ChildProcess {
    if (this.isRunning) throw new Error(`${this.#name} is already running`);
    this.#output = '';
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd, env: { ...process.env, ...env } });
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-keptOutput);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const killChild = (): boolean => child.kill('SIGKILL');
    process.once('exit', killChild);
    child.once('close', () => process.removeListener('exit', killChild));
    this.#child = child;
    return child;
  }

  /** Starts it and waits until its port is open. */
  async spawnUntilOpen(command: ServerCommand): Promise<void> {
    const child = this.spawn(command);
    await until(`${this.#name} accepts connections`, () => (this.isRunning ? this.#accepts() : true), {
      timeoutMs: this.#startTimeoutMs,
      everyMs: 10,
    });
    if (!this.isRunning) {
      throw new Error(
        `${this.#name} stopped at its start with ${child.exitCode ?? child.signalCode}:\n${this.#output.slice(-8000)}`,
      );
    }
  }

  /** Asks it to stop (SIGTERM) and waits until it has. */
  stop(timeoutMs = 60_000): Promise<void> {
    return this.#end('SIGTERM', timeoutMs);
  }

  /** Ends it at once (SIGKILL), as a crash would. */
  kill(): Promise<void> {
    return this.#end('SIGKILL', 60_000);
  }

  /** Stops it in the middle of whatever it does; its connections stay. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL', timeoutMs: number): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    if (this.isRunning) {
      child.kill(signal);
      try {
        await until(`${this.#name} has stopped after ${signal}`, () => !this.isRunning, { timeoutMs, everyMs: 5 });
      } catch (error) {
        child.kill('SIGKILL');
        throw error;
      }
    }
    this.#child = undefined;
  }

  #accepts(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, this.host);
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  }
}
