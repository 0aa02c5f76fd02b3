// A broker whose disk is full again and again. Appends are then refused, nothing is lost, and it goes on when there is room.

import { startBroker } from '@odradek/broker';
import { SeededRandom } from '@odradek/runtime';
import { SimulatedWorld } from '@odradek/testing';
import { brokerAddress, checkRecords, Workload } from './workload.ts';

const times = 5;

export async function fullDisk(seed: number): Promise<void> {
  const world = new SimulatedWorld({ seed, network: { maxDelayMs: 4 } });
  const random = new SeededRandom(seed);
  const machine = world.machine('broker');
  const disk = machine.fileSystem;
  const start = () =>
    startBroker({
      world: machine,
      properties: { listeners: `PLAINTEXT://${brokerAddress.host}:${brokerAddress.port}`, 'log.dirs': '/data', 'log.roll.ms': 250 },
    });
  let broker = await world.run(start());
  const workload = await Workload.start(world, random);
  for (let time = 0; time < times; time++) {
    await world.advance(random.nextInt(500));
    disk.capacityBytes = disk.usedBytes + random.nextInt(2_000);
    await world.advance(random.nextInt(1_000));
    disk.capacityBytes = Number.MAX_SAFE_INTEGER;
  }
  const counts = await workload.stop();
  await checkRecords(world, counts);

  await world.run(broker.close());
  broker = await world.run(start());
  await checkRecords(world, counts);
  await world.run(broker.close());
}
