// What befalls the cluster: each fault is inflicted at a moment drawn by chance, and ends by itself after a while.

import type { SeededRandom } from '@odradek/runtime';
import type { SimulatedCluster, SimulatedNode } from './simulated-cluster.ts';
import { sessionTimeoutMs } from './simulated-cluster.ts';

/** Longer than a session, so that each fault is at times noticed and at times not. */
const longestMs = 2 * sessionTimeoutMs;
/** For how long a broker leads alone, once it does. */
const aloneMs = 2_000;

/** Says what it does; undefined where it cannot be done now. */
export type Fault = (fate: Fate) => string | undefined;

export const usualFaults: readonly Fault[] = [
  killOne,
  killOne,
  losePowerOfOne,
  losePowerOfOne,
  stopOne,
  pauseOne,
  pauseOne,
  cutLink,
  cutLink,
  cutOffFromZooKeeper,
  isolateOne,
  expireSession,
  stopZooKeeper,
  setClock,
  slowNetwork,
  cutStreams,
  slowDisk,
];

export class Fate {
  readonly cluster: SimulatedCluster;
  readonly random: SeededRandom;
  /** What has been done, with the time. */
  readonly story: string[] = [];
  /** Nothing more may be done until every replica is in sync again. */
  mustSpare = false;
  /** The longest delay of a healthy network: slow times may overlap, so none may put back the delay that it found. */
  readonly usualDelayMs: number;
  /** How to end what has not ended yet. */
  readonly #endings = new Set<() => void>();

  readonly #faults: readonly Fault[];

  constructor(cluster: SimulatedCluster, random: SeededRandom, faults: readonly Fault[] = usualFaults) {
    this.cluster = cluster;
    this.random = random;
    this.#faults = faults;
    this.usualDelayMs = cluster.world.simulatedNetwork.faults.maxDelayMs;
  }

  /** Whether nothing that was done goes on. */
  get isAtRest(): boolean {
    return this.#endings.size === 0;
  }

  inflict(): void {
    if (this.mustSpare && !isWhole(this.cluster)) return;
    this.mustSpare = false;
    const fault = this.#faults[this.random.nextInt(this.#faults.length)] as Fault;
    const done = fault(this);
    if (done !== undefined) this.story.push(`${Math.round(this.cluster.world.clock.monotonicMs())} ms: ${done}`);
  }

  /** Ends all faults now, and brings back every broker. */
  relent(): void {
    for (const end of [...this.#endings]) end();
    this.cluster.world.simulatedNetwork.heal();
    for (const node of this.cluster.nodes) if (node.state === 'down') this.bringUp(node);
  }

  /** Answers for how long. */
  forAWhile(end: () => void): number {
    return this.for(this.random.nextInt(longestMs), end);
  }

  for(ms: number, end: () => void): number {
    const finish = (): void => {
      if (!this.#endings.delete(finish)) return;
      end();
    };
    this.#endings.add(finish);
    this.cluster.world.machine('fate').timer.schedule(ms, finish);
    return ms;
  }

  /** Starts the broker of a machine that is down, again and again where it gives up. */
  bringUp(node: SimulatedNode): void {
    if (node.state !== 'down') return;
    this.cluster.startNode(node).catch((error: unknown) => {
      this.story.push(`${Math.round(this.cluster.world.clock.monotonicMs())} ms: broker ${node.id} gave up: ${error}`);
      this.cluster.world.machine('fate').timer.schedule(1_000, () => this.bringUp(node));
    });
  }

  one(...states: readonly SimulatedNode['state'][]): SimulatedNode | undefined {
    const nodes = this.cluster.nodes.filter(({ state }) => states.includes(state));
    return nodes[this.random.nextInt(Math.max(1, nodes.length))];
  }
}

function killOne(fate: Fate): string | undefined {
  const node = fate.one('running', 'paused', 'starting', 'stopping');
  if (node === undefined) return undefined;
  fate.cluster.crashNode(node, 'everything');
  return `kill -9 of broker ${node.id} for ${fate.forAWhile(() => fate.bringUp(node))} ms`;
}

/**
 * What was not synced is lost. As in Kafka that may cost acknowledged records where another replica fails before this one has been
 * taken out of the in-sync replicas and has come back; so it is done only while all is well, and nothing else until it is again.
 */
function losePowerOfOne(fate: Fate): string | undefined {
  const { cluster, random } = fate;
  if (!fate.isAtRest || !isWhole(cluster)) return undefined;
  const node = fate.one('running');
  if (node === undefined) return undefined;
  fate.mustSpare = true;
  cluster.crashNode(node, random.nextInt(2) === 0 ? 'nothing' : 'something');
  return `broker ${node.id} loses power for ${fate.forAWhile(() => fate.bringUp(node))} ms`;
}

function stopOne(fate: Fate): string | undefined {
  const node = fate.one('running');
  if (node === undefined) return undefined;
  void fate.cluster.stopNode(node).then(() => fate.forAWhile(() => fate.bringUp(node)));
  return `broker ${node.id} is stopped cleanly`;
}

function pauseOne(fate: Fate): string | undefined {
  const node = fate.one('running');
  if (node === undefined) return undefined;
  fate.cluster.pauseNode(node);
  return `broker ${node.id} is paused for ${fate.forAWhile(() => fate.cluster.resumeNode(node))} ms`;
}

function cutLink(fate: Fate): string | undefined {
  const { nodes } = fate.cluster;
  const from = fate.random.nextInt(nodes.length);
  const to = (from + 1 + fate.random.nextInt(nodes.length - 1)) % nodes.length;
  const isOneWay = fate.random.nextInt(2) === 0;
  const links = [[from, to], ...(isOneWay ? [] : [[to, from]])] as [number, number][];
  return `the link ${from} -> ${to} is cut${isOneWay ? ' that way' : ''} for ${cut(
    fate,
    links.map(([a, b]) => [`broker-${a}`, `broker-${b}`]),
  )} ms`;
}

function cutOffFromZooKeeper(fate: Fate): string | undefined {
  const name = `broker-${fate.random.nextInt(fate.cluster.nodes.length)}`;
  const both = [
    [name, 'zookeeper'],
    ['zookeeper', name],
  ] as [string, string][];
  const which = fate.random.nextInt(3);
  const links = which === 2 ? both : [both[which] as [string, string]];
  return `${links.map((link) => link.join(' -> ')).join(', ')} cut for ${cut(fate, links)} ms`;
}

function isolateOne(fate: Fate): string | undefined {
  const name = `broker-${fate.random.nextInt(fate.cluster.nodes.length)}`;
  return `${name} is alone for ${cut(fate, [
    [name, '*'],
    ['*', name],
  ])} ms`;
}

function cut(fate: Fate, links: readonly (readonly [string, string])[]): number {
  const { simulatedNetwork } = fate.cluster.world;
  for (const [from, to] of links) simulatedNetwork.cutOneWay(from, to);
  return fate.forAWhile(() => {
    for (const [from, to] of links) simulatedNetwork.restoreOneWay(from, to);
  });
}

function expireSession(fate: Fate): string | undefined {
  const node = fate.one('running', 'paused');
  if (node === undefined) return undefined;
  void fate.cluster.zookeeper.expireSessionsOf(node.name);
  return `the session of broker ${node.id} expires`;
}

function stopZooKeeper(fate: Fate): string | undefined {
  const { zookeeper } = fate.cluster;
  if (!zookeeper.isServing) return undefined;
  void zookeeper.stop();
  return `ZooKeeper is away for ${fate.forAWhile(() => void zookeeper.resume())} ms`;
}

function setClock(fate: Fate): string | undefined {
  const node = fate.one('running');
  if (node === undefined) return undefined;
  const byMs = (fate.random.nextInt(2) === 0 ? -1 : 1) * fate.random.nextInt(3_600_000);
  fate.cluster.world.machine(node.name).clock.shiftWallTime(byMs);
  return `the clock of broker ${node.id} is set by ${byMs} ms`;
}

function slowNetwork(fate: Fate): string | undefined {
  const { faults: network } = fate.cluster.world.simulatedNetwork;
  network.maxDelayMs = 20 + fate.random.nextInt(400);
  return `the network is slow for ${fate.forAWhile(() => {
    network.maxDelayMs = fate.usualDelayMs;
  })} ms`;
}

function cutStreams(fate: Fate): string | undefined {
  const { faults: network } = fate.cluster.world.simulatedNetwork;
  network.cutProbability = 0.02;
  return `connections break for ${fate.forAWhile(() => {
    network.cutProbability = 0;
  })} ms`;
}

function slowDisk(fate: Fate): string | undefined {
  const { world } = fate.cluster;
  const name = `broker-${fate.random.nextInt(fate.cluster.nodes.length)}`;
  world.setDiskDelay(name, { min: 0, max: 50 + fate.random.nextInt(1_000) });
  return `the disk of ${name} is slow for ${fate.forAWhile(() => world.setDiskDelay(name))} ms`;
}

/**
 * All others die, so that nobody else is in sync any more; then it dies, and the others are back before it. Who may be led by anybody
 * is, and what only this one had is cut off.
 */
export function abandonOne(fate: Fate): string | undefined {
  const node = fate.one('running');
  if (node === undefined) return undefined;
  const others = fate.cluster.nodes.filter((other) => other !== node);
  for (const other of others) if (other.state !== 'down') fate.cluster.crashNode(other, 'everything');
  const ms = fate.for(sessionTimeoutMs + aloneMs, () => {
    if (node.state !== 'down') fate.cluster.crashNode(node, 'everything');
    for (const other of others) fate.bringUp(other);
    fate.forAWhile(() => fate.bringUp(node));
  });
  return `broker ${node.id} is alone for ${ms} ms, as all others are killed, and then it is`;
}

/** Room for little more than there is, or for nothing. */
export function fullDisk(fate: Fate): string | undefined {
  const node = fate.one('running', 'paused');
  if (node === undefined) return undefined;
  const { fileSystem } = fate.cluster.world.machine(node.name);
  const roomBytes = fate.random.nextInt(4_000);
  fileSystem.capacityBytes = fileSystem.usedBytes + roomBytes;
  const ms = fate.forAWhile(() => {
    fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
  });
  return `the disk of broker ${node.id} has room for ${roomBytes} bytes for ${ms} ms`;
}

/** Every broker runs, and every partition has a leader that counts all its replicas as in sync. */
export function isWhole({ nodes }: SimulatedCluster): boolean {
  if (nodes.some(({ state }) => state !== 'running')) return false;
  const statuses = nodes.flatMap(({ broker }) => broker?.replicas() ?? []);
  const led = statuses.filter(({ isLeader }) => isLeader);
  const partitions = new Set(statuses.map(({ topic, partition }) => `${topic}-${partition}`));
  return (
    led.length === partitions.size &&
    led.every(({ inSyncReplicas, assignedReplicas }) => inSyncReplicas.length === assignedReplicas.length)
  );
}
