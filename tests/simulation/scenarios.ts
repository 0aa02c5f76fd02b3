// What the simulator plays: each scenario is a story told from a seed, and fails by throwing.

import { cluster, operatedCluster } from './cluster/cluster.ts';
import { crashingBroker } from './crashing-broker.ts';
import { fullDisk } from './full-disk.ts';

export interface Scenario {
  readonly name: string;
  play(seed: number): Promise<void>;
}

export const scenarios: readonly Scenario[] = [
  { name: 'crashing-broker', play: crashingBroker },
  { name: 'cluster', play: cluster },
  { name: 'operated-cluster', play: operatedCluster },
  { name: 'full-disk', play: fullDisk },
];
