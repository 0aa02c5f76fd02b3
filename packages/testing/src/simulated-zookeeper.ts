// A ZooKeeper in the simulated world: one server that speaks the real protocol on the simulated network and never loses what it has
// answered, as an ensemble does. What goes wrong goes wrong on the way to it, or by its restart.
//
// The tree and its watches are those of the embedded store; what is here is sessions: they live while something is heard of them,
// on whatever connection, and for their timeout after that.

import { EmbeddedStore } from '@odradek/coordination';
import type { ByteStream, Listener, StreamReceiver } from '@odradek/runtime';
import { SimulatedDisk } from './simulated-disk.ts';
import type { SimulatedMachine, SimulatedWorld } from './simulated-world.ts';
import { type ServedSession, ZooKeeperConnection } from './simulated-zookeeper-connection.ts';

const port = 2181;
const shortestTimeoutMs = 1_000;
const longestTimeoutMs = 60_000;
/** How often it is looked which sessions are over: a session may live this much longer than its timeout. */
const tickMs = 200;

export class SimulatedZooKeeper {
  /** For `zookeeper.connect`. */
  readonly address: string;
  readonly #machine: SimulatedMachine;
  readonly #store: EmbeddedStore;
  readonly #sessions = new Map<bigint, ServedSession>();
  readonly #connections = new Set<ZooKeeperConnection>();
  #listener: Listener | undefined;
  #isClosed = false;

  private constructor(machine: SimulatedMachine, store: EmbeddedStore) {
    this.#machine = machine;
    this.#store = store;
    this.address = `${machine.name}:${port}`;
  }

  get isServing(): boolean {
    return this.#listener !== undefined;
  }

  static async start(world: SimulatedWorld, name = 'zookeeper'): Promise<SimulatedZooKeeper> {
    const machine = world.machine(name);
    // A disk of its own, which is never slow and never fails.
    const fileSystem = new SimulatedDisk();
    const { timer, clock, logger } = machine;
    const store = await EmbeddedStore.open({ fileSystem, timer, clock, logger, directory: '/tree' });
    const server = new SimulatedZooKeeper(machine, store);
    await server.resume();
    server.#tick();
    return server;
  }

  /** Connections break and nobody can connect until `resume`; sessions do not grow older meanwhile, as during an election. */
  async stop(): Promise<void> {
    await this.#listener?.close();
    this.#listener = undefined;
    for (const connection of [...this.#connections]) connection.drop();
  }

  async resume(): Promise<void> {
    for (const session of this.#sessions.values()) session.heardMs = this.#machine.clock.monotonicMs();
    this.#listener = await this.#machine.network.listen({ host: '0.0.0.0', port }, (stream) => this.#accept(stream));
  }

  /** Ends the sessions of a machine, as if nothing had been heard of it for too long. */
  async expireSessionsOf(machineName: string): Promise<void> {
    for (const session of [...this.#sessions.values()]) {
      if (session.machineName === machineName) await this.#expire(session);
    }
  }

  async expireSession(sessionId: bigint): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) await this.#expire(session);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
    await this.#store.close();
  }

  #accept(stream: ByteStream): StreamReceiver {
    const connection = new ZooKeeperConnection(stream, {
      store: this.#store,
      onClose: () => this.#connections.delete(connection),
      attach: (asked) => this.#attach(connection, stream, asked),
      hear: (session) => {
        session.heardMs = this.#machine.clock.monotonicMs();
      },
      end: async (session) => {
        this.#sessions.delete(session.coordination.sessionId);
        await session.coordination.close();
      },
    });
    this.#connections.add(connection);
    return connection;
  }

  /** The session that a connection asks for, or a new one; undefined when it is over. */
  async #attach(
    connection: ZooKeeperConnection,
    stream: ByteStream,
    asked: { readonly sessionId: bigint; readonly password: Buffer; readonly timeoutMs: number },
  ): Promise<ServedSession | undefined> {
    const existing = this.#sessions.get(asked.sessionId);
    const nowMs = this.#machine.clock.monotonicMs();
    if (asked.sessionId !== 0n) {
      if (existing === undefined || !existing.password.equals(asked.password)) return undefined;
      existing.connection?.drop();
      existing.connection = connection;
      existing.heardMs = nowMs;
      return existing;
    }
    const password = Buffer.alloc(16);
    for (let i = 0; i < password.length; i++) password[i] = this.#machine.random.nextInt(256);
    const session: ServedSession = {
      coordination: await this.#store.openSession(),
      machineName: stream.remoteAddress,
      password,
      timeoutMs: Math.min(longestTimeoutMs, Math.max(shortestTimeoutMs, asked.timeoutMs)),
      connection,
      heardMs: nowMs,
    };
    this.#sessions.set(session.coordination.sessionId, session);
    return session;
  }

  #tick(): void {
    this.#machine.timer.schedule(tickMs, () => {
      if (this.#isClosed) return;
      const nowMs = this.#machine.clock.monotonicMs();
      // An ensemble without a leader lets no session expire.
      const late =
        this.#listener === undefined
          ? []
          : [...this.#sessions.values()].filter((session) => nowMs - session.heardMs > session.timeoutMs);
      for (const session of late) void this.#expire(session);
      this.#tick();
    });
  }

  async #expire(session: ServedSession): Promise<void> {
    this.#sessions.delete(session.coordination.sessionId);
    session.connection?.drop();
    await this.#store.expireSession(session.coordination.sessionId);
  }
}
