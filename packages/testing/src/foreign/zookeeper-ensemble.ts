// A real ZooKeeper: one server or several, each a process of its own on free ports, with its files in a temporary directory.
// Servers can be killed, started again, and stopped for a while as by a machine that hangs.

import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ServerProcess } from '../server-process.ts';
import { until } from '../until.ts';
import { findProgram, isContinuousIntegration, type Tool } from './machine-tools.ts';
import { runCommand } from './run-command.ts';

export interface ZooKeeperOptions {
  /** Default 1. */
  readonly servers?: number;
  /** ZooKeeper's unit of time; sessions last 2 to 20 of it. Default 500. */
  readonly tickTimeMs?: number;
  /** More lines of zoo.cfg. */
  readonly config?: Readonly<Record<string, string | number | boolean>>;
  /** More arguments for java, such as `-Dname=value`. */
  readonly javaArguments?: readonly string[];
}

export type ZooKeeperRole = 'leader' | 'follower' | 'standalone';

const debianJars = '/usr/share/java';
/** Its manifest names what it needs itself. */
const jars = ['zookeeper.jar', 'slf4j-simple.jar', 'netty-codec.jar', 'netty-resolver.jar']
  .map((name) => join(debianJars, name))
  .join(delimiter);

/** The class path of Debian's ZooKeeper; root under CI installs it. */
export async function zooKeeperJars(): Promise<Tool<string>> {
  const java = findProgram('java');
  if (java.missing !== undefined) return java;
  const isThere = (): boolean => existsSync(join(debianJars, 'zookeeper.jar'));
  if (!isThere() && isContinuousIntegration && process.getuid?.() === 0) {
    // Several tests may find it missing at once, so each waits for the other's installation.
    const apt = ['-qq', '-o', 'DPkg::Lock::Timeout=240'];
    await runCommand('apt-get', [...apt, 'update'], { timeoutMs: 240_000, mayFail: true });
    await runCommand('apt-get', [...apt, '-y', '--no-install-recommends', 'install', 'zookeeper'], {
      timeoutMs: 240_000,
      mayFail: true,
    });
  }
  return isThere() ? { tool: jars } : { missing: 'the Debian package zookeeper is not installed' };
}

/** Starts all servers and waits until they serve. */
export async function startZooKeeper(classPath: string, options: ZooKeeperOptions = {}): Promise<ZooKeeperEnsemble> {
  const ensemble = await ZooKeeperEnsemble.prepare(classPath, options);
  try {
    await Promise.all(ensemble.servers.map((server) => server.start()));
    await ensemble.untilReady();
  } catch (error) {
    await ensemble.close();
    throw error;
  }
  return ensemble;
}

export class ZooKeeperEnsemble {
  readonly servers: readonly ZooKeeperServer[];
  readonly #directory: string;

  private constructor(servers: readonly ZooKeeperServer[], directory: string) {
    this.servers = servers;
    this.#directory = directory;
  }

  static async prepare(classPath: string, options: ZooKeeperOptions): Promise<ZooKeeperEnsemble> {
    const directory = mkdtempSync(join(tmpdir(), 'odradek-zookeeper-'));
    const count = options.servers ?? 1;
    const ports = await freePorts(3 * count);
    const members = Array.from({ length: count }, (_, i) => `server.${i + 1}=127.0.0.1:${ports[3 * i + 1]}:${ports[3 * i + 2]}`);
    const servers = Array.from({ length: count }, (_, i) => {
      const home = join(directory, String(i + 1));
      mkdirSync(join(home, 'data'), { recursive: true });
      writeFileSync(join(home, 'data', 'myid'), String(i + 1));
      const config = {
        tickTime: options.tickTimeMs ?? 500,
        initLimit: 20,
        syncLimit: 5,
        dataDir: join(home, 'data'),
        clientPortAddress: '127.0.0.1',
        clientPort: ports[3 * i]!,
        'admin.enableServer': false,
        '4lw.commands.whitelist': 'srvr',
        maxClientCnxns: 0,
        ...options.config,
      };
      const lines = Object.entries(config).map(([name, value]) => `${name}=${value}`);
      writeFileSync(join(home, 'zoo.cfg'), [...lines, ...(count > 1 ? members : []), ''].join('\n'));
      return new ZooKeeperServer(ports[3 * i]!, home, classPath, options.javaArguments ?? []);
    });
    return new ZooKeeperEnsemble(servers, directory);
  }

  /** For zookeeper.connect. */
  get connect(): string {
    return this.servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  }

  /** Waits until every server that runs has a role. */
  async untilReady(): Promise<void> {
    for (const server of this.servers) {
      if (server.isRunning) await until('ZooKeeper serves', async () => (await server.role()) !== undefined, { timeoutMs: 60_000 });
    }
  }

  /** The server that leads the others. */
  leader(): Promise<ZooKeeperServer> {
    return until('the ensemble has a leader', async () => {
      for (const server of this.servers) {
        const role = server.isRunning ? await server.role() : undefined;
        if (role === 'leader' || role === 'standalone') return server;
      }
      return undefined;
    });
  }

  /** Ends all servers and removes their files. */
  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

export class ZooKeeperServer extends ServerProcess {
  readonly #home: string;
  readonly #classPath: string;
  readonly #javaArguments: readonly string[];

  constructor(port: number, home: string, classPath: string, javaArguments: readonly string[]) {
    super({ name: 'ZooKeeper', port });
    this.#home = home;
    this.#classPath = classPath;
    this.#javaArguments = javaArguments;
  }

  /** Starts on the files of before. Returns when the port is open, which is before the server has a role. */
  start(): Promise<void> {
    return this.spawnUntilOpen({
      program: 'java',
      args: [
        '-Xmx128m',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        '-Dzookeeper.forceSync=no', // A killed process loses nothing that the system has taken.
        ...this.#javaArguments,
        '-cp',
        this.#classPath,
        'org.apache.zookeeper.server.quorum.QuorumPeerMain',
        join(this.#home, 'zoo.cfg'),
      ],
      cwd: this.#home,
    });
  }

  /** undefined: it does not serve, or not yet. */
  async role(): Promise<ZooKeeperRole | undefined> {
    const answer = await this.#ask('srvr').catch(() => '');
    return /^Mode: (leader|follower|standalone)$/m.exec(answer)?.[1] as ZooKeeperRole | undefined;
  }

  /** One of its four-letter commands. */
  #ask(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect(this.port, this.host);
      socket.setTimeout(2000, () => socket.destroy(new Error('no answer')));
      socket.once('connect', () => socket.write(command));
      socket.on('data', (chunk) => {
        answer += chunk.toString();
      });
      socket.once('error', reject);
      socket.once('close', () => resolve(answer));
    });
  }
}

/** Different ones, which nobody listens on at the moment. */
async function freePorts(count: number): Promise<number[]> {
  const holders = await Promise.all(
    Array.from({ length: count }, async () => {
      const holder = createServer().listen(0, '127.0.0.1');
      await once(holder, 'listening');
      return holder;
    }),
  );
  const ports = holders.map((holder) => (holder.address() as AddressInfo).port);
  await Promise.all(holders.map((holder) => once(holder.close(), 'close')));
  return ports;
}
