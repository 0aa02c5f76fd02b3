// A broker in a process of its own, as a user starts it: for tests that kill it, fill its disk or bring foreign clients.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServerCommand, ServerProcess } from './server-process.ts';

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

export class OdradekProcess extends ServerProcess {
  readonly bootstrap: string;
  readonly dataDirectories: readonly string[];
  readonly #options: OdradekProcessOptions;
  readonly #ownDirectory: string | undefined;

  constructor(options: OdradekProcessOptions, port: number, dataDirectories: readonly string[], ownDirectory: string | undefined) {
    super({
      name: 'the broker',
      port,
      ...(options.startTimeoutMs === undefined ? {} : { startTimeoutMs: options.startTimeoutMs }),
    });
    this.#options = options;
    this.bootstrap = `${this.host}:${port}`;
    this.dataDirectories = dataDirectories;
    this.#ownDirectory = ownDirectory;
  }

  /** Starts on the data and the port of before, with `properties` on top of the first ones, and waits until it accepts connections. */
  async start(properties: OdradekProcessOptions['properties'] = {}): Promise<void> {
    await this.spawnUntilOpen(this.#command(properties));
  }

  /** Starts with settings that must not work, and returns the exit status. */
  async startAndFail(properties: OdradekProcessOptions['properties'] = {}): Promise<number | null> {
    const child = this.spawn(this.#command(properties));
    await once(child, 'close');
    return child.exitCode;
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

  #command(properties: OdradekProcessOptions['properties']): ServerCommand {
    const all = {
      listeners: `PLAINTEXT://${this.bootstrap}`,
      'log.dirs': this.dataDirectories.join(','),
      ...this.#options.properties,
      ...properties,
    };
    const overrides = Object.entries(all).flatMap(([name, value]) => ['--override', `${name}=${value}`]);
    const { nodeArguments = [], env } = this.#options;
    return {
      program: process.execPath,
      args: ['--conditions=odradek-source', ...nodeArguments, mainPath, 'start', ...overrides],
      env: { NODE_TEST_CONTEXT: undefined, ...env },
    };
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
