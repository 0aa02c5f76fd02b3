// The tree of a cluster: sessions with a ZooKeeper ensemble.

import type { Clock, Logger, Network, Random, Timer } from '@odradek/runtime';
import { type Coordination, type CoordinationStore, isCoordinationError } from '../coordination.ts';
import type { ZooKeeperAuth } from './authentication.ts';
import { parseConnectString } from './connect-string.ts';
import type { SaslCredentials } from './digest-md5.ts';
import { ZooKeeperSession, type ZooKeeperSessionParts } from './session.ts';

export interface ZooKeeperStoreParts {
  /** A TlsConnector where the servers speak TLS. */
  readonly network: Pick<Network, 'connect'>;
  readonly timer: Timer;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** zookeeper.connect: `host:port,host:port/chroot`. */
  readonly connect: string;
  /** zookeeper.session.timeout.ms, default 18,000. The ensemble has bounds of its own: 2 to 20 of its ticks, unless it is told others. */
  readonly sessionTimeoutMs?: number;
  /** zookeeper.connection.timeout.ms: how long the first connection of a session may take; default the session's timeout. */
  readonly connectionTimeoutMs?: number;
  /** zookeeper.max.in.flight.requests, default 10; what goes beyond waits here. */
  readonly maxInFlightRequests?: number;
  /** zookeeper.set.acl: nodes can be written, and sensitive ones read, by the names alone that `auth` proves. Default false. */
  readonly setAcl?: boolean;
  /** What each connection proves about itself. */
  readonly auth?: readonly ZooKeeperAuth[];
  /** Who we are for SASL (DIGEST-MD5). Some servers tell a wrong password, others just close the connection. */
  readonly sasl?: SaslCredentials;
  /** The largest request that the servers take (their jute.maxbuffer); default theirs, 1,048,575. */
  readonly maxRequestBytes?: number;
  /** The largest answer that is taken; default 4 MiB, as Kafka's client has it. */
  readonly maxAnswerBytes?: number;
}

export class ZooKeeperStore implements CoordinationStore {
  readonly #parts: ZooKeeperSessionParts;

  private constructor(parts: ZooKeeperSessionParts) {
    this.#parts = parts;
  }

  /**
   * Reaches the ensemble only if there is a chroot: it is created where it is missing. Rejects when the addresses make no sense, with
   * ConnectionLoss when no server can be reached in time, and with AuthFailed.
   */
  static async connect(parts: ZooKeeperStoreParts): Promise<ZooKeeperStore> {
    const { servers, chroot } = parseConnectString(parts.connect);
    const sessionTimeoutMs = parts.sessionTimeoutMs ?? 18_000;
    const whole: ZooKeeperSessionParts = {
      network: parts.network,
      timer: parts.timer,
      clock: parts.clock,
      random: parts.random,
      logger: parts.logger,
      servers,
      chroot,
      sessionTimeoutMs,
      connectionTimeoutMs: parts.connectionTimeoutMs ?? sessionTimeoutMs,
      maxInFlightRequests: parts.maxInFlightRequests ?? 10,
      secure: parts.setAcl ?? false,
      auth: parts.auth ?? [],
      sasl: parts.sasl,
      maxRequestBytes: parts.maxRequestBytes ?? 0xfffff,
      maxAnswerBytes: parts.maxAnswerBytes ?? 4 * 1024 * 1024,
    };
    if (chroot !== '') await createChroot(whole);
    return new ZooKeeperStore(whole);
  }

  openSession(options: { readonly timeoutMs?: number } = {}): Promise<Coordination> {
    return ZooKeeperSession.open({ ...this.#parts, sessionTimeoutMs: options.timeoutMs ?? this.#parts.sessionTimeoutMs });
  }
}

async function createChroot(parts: ZooKeeperSessionParts): Promise<void> {
  const session = await ZooKeeperSession.open({ ...parts, chroot: '' });
  try {
    if ((await session.exists(parts.chroot)) !== undefined) return;
    for (let end = parts.chroot.indexOf('/', 1); ; end = parts.chroot.indexOf('/', end + 1)) {
      const path = end === -1 ? parts.chroot : parts.chroot.slice(0, end);
      try {
        await session.create(path, null);
      } catch (error) {
        // Other brokers start at the same time.
        if (!isCoordinationError(error, 'NodeExists')) throw error;
      }
      if (end === -1) return;
    }
  } finally {
    await session.close();
  }
}
