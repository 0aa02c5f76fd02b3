// `odradek cluster`: several brokers in the foreground, for development, until SIGINT or SIGTERM. They run in this process over one embedded
// coordination tree, or each in a process of its own over a ZooKeeper ensemble.

import { existsSync } from 'node:fs';
import { ConfigError, createLogger, type Properties } from '@odradek/runtime';
import { startBrokerProcesses } from '../broker-processes.ts';
import { startBrokersTogether } from '../brokers-together.ts';
import { type ClusterPlan, planCluster } from '../cluster-properties.ts';
import { describe, heardSignal, logOptions, readProperties, stopAndExit } from '../foreground.ts';
import type { StartArguments } from '../start-arguments.ts';

export interface ClusterArguments extends StartArguments {
  readonly brokers: number;
  /** Takes the place of zookeeper.connect. */
  readonly zookeeper: string | undefined;
}

/** Brokers that run. */
export interface RunningBrokers {
  /** Where clients can begin, `host:port` of each broker. */
  readonly bootstrap: readonly string[];
  /** Settles with the reason when the cluster cannot go on. */
  readonly failed: Promise<Error>;
  stop(): Promise<unknown>;
}

export async function cluster(options: ClusterArguments): Promise<void> {
  // Heard from the first moment, so that a signal during the start is not lost.
  const stopSignal = heardSignal();
  let brokers: RunningBrokers;
  try {
    const { file, brokers: wanted, zookeeper } = options;
    const overrides = [...options.overrides, ...(zookeeper === undefined ? [] : [`zookeeper.connect=${zookeeper}`])];
    const given = readProperties({ file, overrides });
    const plan = planCluster(given, wanted);
    ensureNoSingleBroker(plan);
    brokers = await (given.has('zookeeper.connect')
      ? startBrokerProcesses(plan, { file, overrides })
      : startBrokersTogether(plan, logFormat(given)));
    const count = wanted === 1 ? '1 broker' : `${wanted} brokers`;
    createLogger({ format: logFormat(given) }).info(`A cluster of ${count} is ready at ${brokers.bootstrap.join(',')}`);
  } catch (error) {
    process.stderr.write(`odradek: ${describe(error)}\n`);
    process.exit(1);
  }
  const reason = await Promise.race([stopSignal, brokers.failed]);
  if (typeof reason !== 'string') process.stderr.write(`odradek: ${reason.message}\n`);
  await stopAndExit('the cluster', typeof reason === 'string' ? 0 : 1, () => brokers.stop());
}

/** The data of one broker that was started alone stays apart. */
function ensureNoSingleBroker({ directory }: ClusterPlan): void {
  if (!existsSync(`${directory}/meta.properties`)) return;
  throw new ConfigError(
    `${directory} holds the data of a single broker: name another directory for the cluster with --override log.dirs=DIRECTORY`,
  );
}

function logFormat(given: Properties): 'text' | 'json' {
  return (logOptions(process.env).format ?? given.get('odradek.log.format')) === 'json' ? 'json' : 'text';
}
