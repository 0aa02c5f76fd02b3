import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ByteStream, NodeNetwork, type StreamReceiver } from '@odradek/runtime';
import { networkContract } from './network.contract.ts';
import { promisesSettled } from './simulated-time.ts';
import { SimulatedWorld } from './simulated-world.ts';

networkContract('node', () => ({
  network: new NodeNetwork(),
  run: (promise) => promise,
  runUntil: async (condition) => {
    while (!condition()) {
      await promisesSettled();
    }
  },
}));

for (const seed of [1, 2, 3]) {
  networkContract(`simulated, seed ${seed}`, () => {
    const world = new SimulatedWorld({ seed, network: { maxDelayMs: 20, splitProbability: 0.5 } });
    return { network: world.network, run: (promise) => world.run(promise), runUntil: (condition) => world.runUntil(condition) };
  });
}

const nothing = (): void => undefined;
const silent: StreamReceiver = { onData: nothing, onDrain: nothing, onEnd: nothing, onClose: nothing };

/** Two machines, `b` answering everything with the same bytes. */
async function echoing(world: SimulatedWorld): Promise<{ near: ByteStream; heard: string[]; closed: (Error | undefined)[] }> {
  const heard: string[] = [];
  const closed: (Error | undefined)[] = [];
  const receiver = (onData: (chunk: Buffer) => void, onClose: (error: Error | undefined) => void): StreamReceiver => ({
    onData,
    onClose,
    onDrain: () => undefined,
    onEnd: () => undefined,
  });
  await world.machine('b').network.listen({ host: 'b', port: 9092 }, (stream) =>
    receiver(
      (chunk) => stream.write([chunk]),
      () => undefined,
    ),
  );
  const near = await world.run(
    world.machine('a').network.connect({ host: 'b', port: 9092 }, () =>
      receiver(
        (chunk) => heard.push(chunk.toString()),
        (error) => closed.push(error),
      ),
    ),
  );
  return { near, heard, closed };
}

test('what is sent over a blocked link waits for it, either way', async () => {
  const world = new SimulatedWorld({ seed: 5, network: { splitProbability: 0 } });
  const { near, heard } = await echoing(world);
  world.simulatedNetwork.cutOneWay('b', 'a');
  near.write([Buffer.from('ping')]);
  await world.advance(10_000);
  assert.deepEqual(heard, []);
  world.simulatedNetwork.heal();
  await world.advance(10);
  assert.deepEqual(heard, ['ping']);
});

test('connecting across a partition times out, and succeeds once it is healed', async () => {
  const world = new SimulatedWorld({ seed: 6 });
  await echoing(world);
  world.simulatedNetwork.partition(['a'], ['b']);
  const quiet: StreamReceiver = {
    onData: () => undefined,
    onDrain: () => undefined,
    onEnd: () => undefined,
    onClose: () => undefined,
  };
  const attempt = (timeoutMs: number): Promise<ByteStream> =>
    world.machine('a').network.connect({ host: 'b', port: 9092, timeoutMs }, () => quiet);
  await assert.rejects(world.run(attempt(500)), { code: 'ETIMEDOUT' });
  const patient = attempt(60_000);
  await world.advance(5_000);
  world.simulatedNetwork.heal();
  assert.equal((await world.run(patient)).remotePort, 9092);
});

test('a lost chunk cuts the stream at both ends', async () => {
  const world = new SimulatedWorld({ seed: 7 });
  const { near, closed } = await echoing(world);
  world.simulatedNetwork.faults.cutProbability = 1;
  near.write([Buffer.from('lost')]);
  await world.runUntil(() => closed.length > 0);
  assert.equal((closed[0] as NodeJS.ErrnoException).code, 'ECONNRESET');
});

test('a machine that crashes resets its peers and listens no more', async () => {
  const world = new SimulatedWorld({ seed: 8 });
  const { closed, near } = await echoing(world);
  world.crash('b');
  await world.runUntil(() => closed.length > 0);
  assert.equal((closed[0] as NodeJS.ErrnoException).code, 'ECONNRESET');
  assert.equal(near.write([Buffer.from('late')]), false);
  const again = world.machine('a').network.connect({ host: 'b', port: 9092 }, () => assert.fail('nobody listens'));
  await assert.rejects(world.run(again), { code: 'ECONNREFUSED' });
});

test('a program that is paused hears of nothing until it goes on, and then of everything', async () => {
  const world = new SimulatedWorld({ seed: 9 });
  const { near, heard } = await echoing(world);
  const fired: number[] = [];
  const { timer, clock } = world.machine('b');
  timer.schedule(10, () => fired.push(clock.monotonicMs()));
  timer.schedule(20, () => fired.push(clock.monotonicMs())).cancel();
  const pausedMs = clock.monotonicMs();
  world.pause('b');
  near.write([Buffer.from('are you there')]);
  const patient = world.machine('a').network.connect({ host: 'b', port: 9092 }, () => silent);
  await world.advance(1_000);
  assert.deepEqual([heard, fired], [[], []]);
  assert.equal((await world.run(patient)).remotePort, 9092, 'the system accepts without the program');
  world.resume('b');
  await world.runUntil(() => heard.join('') === 'are you there');
  assert.equal(fired.length, 1);
  assert.ok((fired[0] ?? 0) >= pausedMs + 1_000);
});

test('what a paused program would have heard of is lost when its machine crashes', async () => {
  const world = new SimulatedWorld({ seed: 10 });
  const machine = world.machine('b');
  machine.timer.schedule(10, () => assert.fail('the dead hear nothing'));
  world.pause('b');
  await world.advance(100);
  world.crash('b');
  world.resume('b');
  await world.advance(100);
});

test('the same seed gives the same run', async () => {
  const run = async (seed: number): Promise<string> => {
    const world = new SimulatedWorld({ seed, network: { maxDelayMs: 50, splitProbability: 0.5 } });
    const { near, heard } = await echoing(world);
    near.write([Buffer.from('some bytes that will be split somewhere')]);
    await world.runUntil(() => heard.join('').length === 39);
    return `${world.clock.monotonicMs()} ${heard.join('|')}`;
  };
  assert.equal(await run(11), await run(11));
  assert.notEqual(await run(11), await run(12));
});
