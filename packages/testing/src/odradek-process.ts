// A broker in a process of its own, as a user starts it: for tests that kill it, fill its disk or bring foreign clients.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

export interface OdradekProcessOptions {
  /** Settings of server.properties. `listeners` and `log.dirs` are given by the process itself unless named here. */
  readonly properties?: Readonly<Record<string, string | number | boolean>>;
  /** Where the data is kept; without any a fresh temporary directory, removed by `close`. */
  readonly dataDirectories?: readonly string[];
  readonly port?: number;
  /** Arguments for node itself, such as `--cpu-prof`. */
  readonly nodeArguments?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly startTimeoutMs?: number;
}

/** The command's source; ODRADEK_TEST_MAIN names another form of it, such as the emitted JavaScript. */
const mainPath = process.env['ODRADEK_TEST_MAIN'] ?? fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url));

/** Starts a broker and waits until it accepts connections. */
export async function startOdradekProcess(options: OdradekProcessOptions = {}): Promise<OdradekProcess> {
  const ownDirectory = options.dataDirectories === undefined ? mkdtempSync(join(tmpdir(), 'odradek-test-')) : undefined;
  const dataDirectories = options.dataDirectories ?? [join(ownDirectory ?? '', 'data')];
  const odradek = new OdradekProcess(options, options.port ?? (await freePort()), dataDirectories, ownDirectory);
  try {
    await odradek.start();
  } catch (error) {
    await odradek.close();
    throw error;
  }
  return odradek;
}

export class OdradekProcess {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly bootstrap: string;
  readonly dataDirectories: readonly string[];
  readonly #options: OdradekProcessOptions;
  readonly #ownDirectory: string | undefined;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(options: OdradekProcessOptions, port: number, dataDirectories: readonly string[], ownDirectory: string | undefined) {
    this.#options = options;
    this.port = port;
    this.bootstrap = `${this.host}:${port}`;
    this.dataDirectories = dataDirectories;
    this.#ownDirectory = ownDirectory;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) {
      throw new Error('the broker is not running');
    }
    return pid;
  }

  /** What the broker has printed since its last start, standard output and error mixed; the last 256 KiB. */
  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts on the data and the port of before, with `properties` on top of the first ones. */
  async start(properties: OdradekProcessOptions['properties'] = {}): Promise<void> {
    const { startTimeoutMs = 60_000 } = this.#options;
    const child = this.#spawn({ ...this.#options.properties, ...properties });
    await until(
      'the broker accepts connections',
      () => {
        if (!this.isRunning) {
          return true;
        }
        return this.#accepts();
      },
      { timeoutMs: startTimeoutMs, everyMs: 10 },
    );
    if (!this.isRunning) {
      throw new Error(`the broker stopped at its start with ${child.exitCode ?? child.signalCode}:\n${this.#output.slice(-8000)}`);
    }
  }

  /** Starts with settings that must not work, and returns the exit status. */
  async startAndFail(properties: OdradekProcessOptions['properties'] = {}): Promise<number | null> {
    const child = this.#spawn({ ...this.#options.properties, ...properties });
    await once(child, 'close');
    return child.exitCode;
  }

  /** Asks the broker to stop (SIGTERM) and waits until it has. */
  async stop(timeoutMs = 60_000): Promise<void> {
    await this.#end('SIGTERM', timeoutMs);
  }

  /** Ends the broker at once (SIGKILL), as a crash would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL', 60_000);
  }

  /** Ends the broker and removes the temporary directory, if it had one. */
  async close(): Promise<void> {
    await this.kill();
    if (this.#ownDirectory !== undefined) {
      rmSync(this.#ownDirectory, { recursive: true, force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #spawn(properties: Readonly<Record<string, string | number | boolean>>): ChildProcess {
    if (this.isRunning) {
      throw new Error('the broker is already running');
    }
    const all = { listeners: `PLAINTEXT://${this.bootstrap}`, 'log.dirs': this.dataDirectories.join(','), ...properties };
    const overrides = Object.entries(all).flatMap(([name, value]) => ['--override', `${name}=${value}`]);
    const node = ['--conditions=odradek-source', ...(this.#options.nodeArguments ?? []), mainPath, 'start', ...overrides];
    this.#output = '';
    const child = spawn(process.execPath, node, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...this.#options.env },
    });
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-256 * 1024);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    // The broker must not outlive the test, however that ends.
    const killChild = (): boolean => child.kill('SIGKILL');
    process.once('exit', killChild);
    child.once('close', () => process.removeListener('exit', killChild));
    this.#child = child;
    return child;
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL', timeoutMs: number): Promise<void> {
    const child = this.#child;
    if (child === undefined) {
      return;
    }
    if (this.isRunning) {
      child.kill(signal);
      try {
        await until(`the broker has stopped after ${signal}`, () => !this.isRunning, { timeoutMs, everyMs: 5 });
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

/** A port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') {
    throw new Error('no port was given');
  }
  return address.port;
}
