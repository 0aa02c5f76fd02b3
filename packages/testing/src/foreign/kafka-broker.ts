// A broker of Apache Kafka 3.9 on ZooKeeper, in a process of its own, for clusters in which Kafka and Odradek stand side by side.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../odradek-process.ts';
import { ServerProcess } from '../server-process.ts';
import { mavenClassPath, type Tool } from './machine-tools.ts';

export interface KafkaBrokerOptions {
  /** More lines of server.properties; `broker.id` and `zookeeper.connect` among them. */
  readonly properties: Readonly<Record<string, string | number | boolean>>;
  /** Where the data is kept; without any a fresh temporary directory, removed by `close`. */
  readonly dataDirectory?: string;
  readonly port?: number;
  /** For the virtual machine; without any a small heap and a quick start, as tests want it. */
  readonly javaArguments?: readonly string[];
}

/** A small heap and a quick start. */
export const quickJava = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];

/** The class path of the broker, from Maven. */
export function apacheKafka39(): Promise<Tool<string>> {
  return mavenClassPath('kafka-3.9', fileURLToPath(new URL('kafka-3.9.pom.xml', import.meta.url)));
}

/** Starts a broker and waits until it accepts connections. */
export async function startKafkaBroker(classPath: string, options: KafkaBrokerOptions): Promise<KafkaBroker> {
  const ownDirectory = options.dataDirectory === undefined ? mkdtempSync(join(tmpdir(), 'odradek-kafka-')) : undefined;
  const dataDirectory = options.dataDirectory ?? join(ownDirectory ?? '', 'data');
  const broker = new KafkaBroker(classPath, options, options.port ?? (await freePort()), dataDirectory, ownDirectory);
  try {
    await broker.start();
  } catch (error) {
    await broker.close();
    throw error;
  }
  return broker;
}

export class KafkaBroker extends ServerProcess {
  readonly bootstrap: string;
  readonly dataDirectory: string;
  readonly #classPath: string;
  readonly #options: KafkaBrokerOptions;
  readonly #ownDirectory: string | undefined;

  constructor(
    classPath: string,
    options: KafkaBrokerOptions,
    port: number,
    dataDirectory: string,
    ownDirectory: string | undefined,
  ) {
    super({ name: 'the Kafka broker', port, startTimeoutMs: 120_000 });
    this.#classPath = classPath;
    this.#options = options;
    this.bootstrap = `${this.host}:${port}`;
    this.dataDirectory = dataDirectory;
    this.#ownDirectory = ownDirectory;
  }

  /** Starts on the data and the port of before, and waits until it accepts connections. */
  async start(): Promise<void> {
    mkdirSync(this.dataDirectory, { recursive: true });
    const all = { listeners: `PLAINTEXT://${this.bootstrap}`, 'log.dirs': this.dataDirectory, ...this.#options.properties };
    const file = `${this.dataDirectory}.properties`;
    writeFileSync(
      file,
      Object.entries(all)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
    const java = this.#options.javaArguments ?? quickJava;
    await this.spawnUntilOpen({ program: 'java', args: [...java, '-cp', this.#classPath, 'kafka.Kafka', file] });
  }

  /** Ends the broker and removes the temporary directory, if it had one. */
  async close(): Promise<void> {
    await this.kill();
    if (this.#ownDirectory !== undefined) rmSync(this.#ownDirectory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
