// Everything outside the program, handed to each part through its constructor.

import type { Clock } from './clock.ts';
import type { FileSystem } from './file-system.ts';
import type { Logger } from './logger.ts';
import type { MetricsRegistry } from './metrics.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import type { Timer } from './timer.ts';

export interface World {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly fileSystem: FileSystem;
  readonly network: Network;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}
