// zookeeper.connect: `host:port,host:port/chroot`. The path at the end, when there is one, becomes the root of the tree.

import type { Random } from '@odradek/runtime';
import { checkPath } from '../node-path.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ConnectString {
  readonly servers: readonly ServerAddress[];
  /** Empty, or a path: what stands before every path that is sent. */
  readonly chroot: string;
}

const defaultPort = 2181;

/** Throws an Error that says what is wrong. */
export function parseConnectString(text: string): ConnectString {
  const slash = text.indexOf('/');
  const hosts = slash === -1 ? text : text.slice(0, slash);
  const path = slash === -1 ? '/' : text.slice(slash).trim();
  try {
    checkPath(path);
  } catch (cause) {
    throw new Error(`The addresses of ZooKeeper end in ${path}, which is not a path`, { cause });
  }
  const servers = hosts
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '')
    .map(parseAddress);
  if (servers.length === 0) throw new Error(`There is no address of a ZooKeeper server in "${text}"`);
  return { servers, chroot: path === '/' ? '' : path };
}

/** `host`, `host:port`, `[::1]:port` or, without a port, `::1`. */
function parseAddress(text: string): ServerAddress {
  const bracketed = /^\[([^\]]+)\](?::(.*))?$/.exec(text);
  const plain = /^([^:[\]]+)(?::(.*))?$/.exec(text);
  const [, host, port] = bracketed ?? plain ?? (/^[0-9a-fA-F:.]+$/.test(text) ? [text, text] : []);
  const number = port === undefined ? defaultPort : /^\d+$/.test(port) ? Number(port) : Number.NaN;
  if (host === undefined || !(number >= 1 && number <= 65_535))
    throw new Error(`"${text}" is not the address of a ZooKeeper server`);
  return { host, port: number };
}

export function formatAddress({ host, port }: ServerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The servers in an order of chance, so that the clients of an ensemble spread over it; tried one after the other, again and again. */
export class ServerRing {
  readonly #servers: ServerAddress[];
  #taken = 0;

  constructor(servers: readonly ServerAddress[], random: Random) {
    this.#servers = [...servers];
    for (let last = this.#servers.length - 1; last > 0; last--) {
      const other = random.nextInt(last + 1);
      [this.#servers[last], this.#servers[other]] = [this.#servers[other]!, this.#servers[last]!];
    }
  }

  get size(): number {
    return this.#servers.length;
  }

  next(): ServerAddress {
    return this.#servers[this.#taken++ % this.#servers.length]!;
  }
}
