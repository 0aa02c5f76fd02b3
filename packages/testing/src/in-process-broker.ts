// A broker in the process of the test, on a free port of the loopback address, with its data in a temporary directory.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Broker, startBroker } from '@odradek/broker';
import { type Clock, createLogger, createSystemWorld, type MetricsRegistry } from '@odradek/runtime';
import { RawClient, type RawClientOptions } from './raw-client.ts';

export interface InProcessBrokerOptions {
  readonly properties?: Readonly<Record<string, string | number | boolean>>;
  /** Where the data is kept and stays; without one a temporary directory that `close` removes. */
  readonly dataDirectory?: string;
  /** Another clock than the machine's, such as one that can be put forward. */
  readonly clock?: Clock;
}

export class InProcessBroker {
  readonly broker: Broker;
  readonly metrics: MetricsRegistry;
  readonly dataDirectory: string;
  readonly #ownDirectory: string | undefined;
  readonly #lines: string[];
  readonly #clients: RawClient[] = [];

  private constructor(
    broker: Broker,
    metrics: MetricsRegistry,
    dataDirectory: string,
    ownDirectory: string | undefined,
    lines: string[],
  ) {
    this.broker = broker;
    this.metrics = metrics;
    this.dataDirectory = dataDirectory;
    this.#ownDirectory = ownDirectory;
    this.#lines = lines;
  }

  static async start({ properties = {}, dataDirectory, clock }: InProcessBrokerOptions = {}): Promise<InProcessBroker> {
    const ownDirectory = dataDirectory === undefined ? mkdtempSync(join(tmpdir(), 'odradek-test-')) : undefined;
    const directory = dataDirectory ?? ownDirectory ?? '';
    const lines: string[] = [];
    const system = createSystemWorld();
    const logger = createLogger({ level: 'info', write: (text) => void lines.push(text) });
    const world = { ...system, logger, clock: clock ?? system.clock };
    try {
      const broker = await startBroker({
        properties: { 'broker.id': 0, listeners: 'PLAINTEXT://127.0.0.1:0', 'log.dirs': directory, ...properties },
        world,
      });
      return new InProcessBroker(broker, world.metrics, directory, ownDirectory, lines);
    } catch (error) {
      if (ownDirectory !== undefined) rmSync(ownDirectory, { recursive: true, force: true });
      throw error;
    }
  }

  get port(): number {
    return this.broker.address().port;
  }

  /** All that the broker has logged. */
  get log(): string {
    return this.#lines.join('');
  }

  /** A client that is closed with the broker. */
  async client(options: Partial<RawClientOptions> = {}): Promise<RawClient> {
    const client = await RawClient.connect({ host: '127.0.0.1', port: this.port, ...options });
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.broker.close();
    if (this.#ownDirectory !== undefined) rmSync(this.#ownDirectory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
