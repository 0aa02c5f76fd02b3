// The real world, put together.

import { type Clock, systemClock } from './clock.ts';
import { createJsonLogger } from './json-logger.ts';
import type { Logger, LogLevel } from './logger.ts';
import { MetricsTable } from './metrics-table.ts';
import { NodeFileSystem } from './node-file-system.ts';
import { NodeNetwork, type NodeNetworkOptions } from './node-network.ts';
import { systemRandom } from './random.ts';
import { SystemTimer } from './system-timer.ts';
import { TextLogger } from './text-logger.ts';
import type { World } from './world.ts';

export interface LogOptions {
  /** Default `text`: lines for a person, in colour on a terminal. */
  readonly format?: 'text' | 'json';
  /** The least important level that is written; default `info`. */
  readonly level?: LogLevel;
  /** Where the lines go, line ends included; default standard output. */
  readonly write?: (text: string) => void;
  /** Whose wall time the lines of format `text` begin with; default the system's. */
  readonly clock?: Clock;
}

export interface SystemWorldOptions {
  readonly log?: LogOptions;
  readonly network?: NodeNetworkOptions;
}

/** Whoever makes a world closes its timer when all else is closed. */
export function createSystemWorld(options: SystemWorldOptions = {}): World {
  return {
    clock: systemClock,
    timer: new SystemTimer(systemClock),
    fileSystem: new NodeFileSystem(),
    network: new NodeNetwork(options.network),
    random: systemRandom,
    logger: createLogger(options.log),
    metrics: new MetricsTable(),
  };
}

export function createLogger(options: LogOptions = {}): Logger {
  const { format = 'text', level = 'info', write, clock = systemClock } = options;
  const writeOut = write ?? writeToStandardOutput();
  if (format === 'json') {
    return createJsonLogger({ level, write: writeOut });
  }
  const useColour = write === undefined && process.stdout.isTTY && process.stdout.hasColors();
  return new TextLogger({ level, write: writeOut, wallTimeMs: () => clock.wallTimeMs(), useColour });
}

let isStandardOutputOpen: boolean | undefined;

function writeToStandardOutput(): (text: string) => void {
  if (isStandardOutputOpen === undefined) {
    isStandardOutputOpen = true;
    // Whoever read the log has gone away (`| head`). That is no reason for a broker to stop.
    process.stdout.on('error', () => {
      isStandardOutputOpen = false;
    });
  }
  return (text) => {
    if (isStandardOutputOpen === true) {
      process.stdout.write(text);
    }
  };
}
