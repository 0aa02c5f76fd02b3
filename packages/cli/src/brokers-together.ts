// The brokers of a cluster in this process, which meet in one embedded coordination tree.

import { type Broker, openSharedCoordination, startBroker } from '@odradek/broker';
import { createSystemWorld, type World } from '@odradek/runtime';
import { type ClusterBroker, type ClusterPlan, coordinationFolder } from './cluster-properties.ts';
import type { RunningBrokers } from './commands/cluster.ts';
import { describe, logOptions } from './foreground.ts';
import { labelled } from './labelled-lines.ts';
import { trimMemoryWhenQuiet } from './memory-trimmer.ts';
import { version } from './version.ts';

type SharedCoordination = Awaited<ReturnType<typeof openSharedCoordination>>;

interface RunningBroker {
  readonly broker: Broker;
  close(): Promise<void>;
}

export async function startBrokersTogether(plan: ClusterPlan, format: 'text' | 'json'): Promise<RunningBrokers> {
  const world = createSystemWorld({ log: { format, level: 'warn' } });
  const coordination = await openSharedCoordination(world, coordinationFolder(plan.directory));
  const running: RunningBroker[] = [];
  const stop = async (): Promise<void> => {
    // All at once: nobody stays to whom anything could be handed over.
    await Promise.all(running.map((each) => each.close()));
    await coordination.close();
    world.timer.close();
  };
  try {
    for (const broker of plan.brokers) running.push(await startOne(broker, coordination, format));
  } catch (error) {
    await stop();
    throw error;
  }
  trimMemoryWhenQuiet();
  return {
    bootstrap: running.map(({ broker }) => broker.bootstrap),
    failed: Promise.race([coordination.failed, ...running.map(({ broker }) => failureOf(broker))]),
    stop,
  };
}

async function startOne(
  { id, properties }: ClusterBroker,
  coordination: SharedCoordination,
  format: 'text' | 'json',
): Promise<RunningBroker> {
  const world: World = createSystemWorld({
    log: { format, level: 'trace', write: (text) => void process.stdout.write(labelled(id, text)) },
  });
  // Brokers of one process stop together, and nobody stays to whom anything could be handed over.
  const settings = new Map([['controlled.shutdown.enable', 'false'], ...properties]);
  try {
    const broker = await startBroker({
      properties: settings,
      world,
      coordination,
      version: version(),
      log: logOptions(process.env),
    });
    return {
      broker,
      async close() {
        await broker.close();
        world.timer.close();
      },
    };
  } catch (error) {
    world.timer.close();
    throw new Error(`Broker ${id} could not start: ${describe(error)}`, { cause: error });
  }
}

async function failureOf({ id, failed }: Broker): Promise<Error> {
  const reason = await failed;
  return new Error(`Broker ${id} has failed: ${reason.message}`, { cause: reason });
}
