// A broker whose process is killed and whose machine loses power again and again, while producers write with `flush.messages=1` over a
// network that cuts their connections.

import { type Broker, startBroker } from '@odradek/broker';
import { SeededRandom, type World } from '@odradek/runtime';
import { type CrashLeaves, SimulatedWorld } from '@odradek/testing';
import { brokerAddress, checkRecords, Workload } from './workload.ts';

const crashes = 4;

export async function crashingBroker(seed: number): Promise<void> {
  const world = new SimulatedWorld({ seed, network: { maxDelayMs: 4, splitProbability: 0.2, cutProbability: 0.001 } });
  const random = new SeededRandom(seed);
  let broker = await world.run(start(world.machine('broker')));
  const workload = await Workload.start(world, random);
  for (let crash = 0; crash < crashes; crash++) {
    await world.advance(20 + random.nextInt(1_500));
    const leaves: CrashLeaves = (['everything', 'something', 'nothing'] as const)[random.nextInt(3)]!;
    broker = await world.run(start(world.crash('broker', leaves)));
  }
  const counts = await workload.stop();
  await checkRecords(world, counts);

  await world.run(broker.close());
  broker = await world.run(start(world.crash('broker', 'everything')));
  await checkRecords(world, counts);
  await world.run(broker.close());
}

function start(machine: World): Promise<Broker> {
  return startBroker({
    world: machine,
    properties: {
      listeners: `PLAINTEXT://${brokerAddress.host}:${brokerAddress.port}`,
      'log.dirs': '/data',
      'log.flush.interval.messages': 1,
      // Short, so that crashes meet segments being rolled.
      'log.roll.ms': 250,
      'log.index.interval.bytes': 512,
    },
  });
}
