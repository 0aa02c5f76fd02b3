// Groups with many members, and many idle connections, on Apache Kafka and on Odradek in turn; a table with ratios.
//
//   npm run bench -- groups [--members 500] [--reps 5] [--protocols classic,consumer] [--connections 1000] [--profile]
//
// Needs Java 17, Maven and Go, and the comparison scripts as `compare` does. `npm run build` first: the emitted JavaScript is what is
// measured. The members are franz-go clients of one process (compare/group-members); each repetition has a fresh group on a fresh
// topic with a partition for every member, and the brokers take turns.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ApiVersionsRequest, ApiVersionsResponse } from '@odradek/protocol';
import { cacheDirectory, freePort, goProgram, needed, RawClient, runCommand } from '@odradek/testing';
import { ApacheKafka, type Contender, Odradek } from './compare/contenders.ts';
import { cpuSeconds, residentMiB } from './compare/process-usage.ts';
import { RatioTable } from './compare/ratio-table.ts';

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '500' },
    reps: { type: 'string', default: '5' },
    protocols: { type: 'string', default: 'classic,consumer' },
    connections: { type: 'string', default: '1000' },
    profile: { type: 'boolean', default: false },
  },
});
const reps = Number(values.reps);
const members = Number(values.members);
const connections = Number(values.connections);
const table = new RatioTable();

/** From the start of the members until the coordinator describes the group as stable with all of them. */
async function measureGroup(program: string, contender: Contender, protocol: string, isWarmUp: boolean): Promise<void> {
  const before = cpuSeconds(contender.pid);
  const args = [contender.bootstrap, String(members), String(members), protocol];
  const { stdout } = await runCommand(program, args, { timeoutMs: 240_000 });
  const [, ms] = /stable after (\d+) ms/.exec(stdout.toString()) ?? [];
  if (isWarmUp) return;
  table.record(contender, `${members} members of a ${protocol} group until stable`, 'ms', 'at most 1', Number(ms));
  const cpu = cpuSeconds(contender.pid) - before;
  table.record(contender, `CPU of that, and of their leaving, ${protocol}`, 's', '', cpu);
}

/** What the connections add while they are open, on a broker that has already had as many. */
async function measureIdleConnections(contender: Contender): Promise<void> {
  await contender.wipe();
  await contender.start();
  for (let rep = 0; rep < reps; rep++) {
    const before = await settledMiB(contender);
    const clients: RawClient[] = [];
    // One after the other: a burst would fill the queue of connections that wait to be accepted, and drop some.
    while (clients.length < connections) clients.push(await idleConnection(contender));
    const growth = (await settledMiB(contender)) - before;
    await Promise.all(clients.map((client) => client.close()));
    const which = rep === 0 ? 'on a fresh broker' : 'later';
    table.record(contender, `resident memory for ${connections} idle connections, ${which}`, 'MiB', 'below 20 MiB', growth);
  }
}

async function idleConnection(contender: Contender): Promise<RawClient> {
  const client = await RawClient.connect({ port: Number(contender.bootstrap.split(':')[1]) });
  await client.send(ApiVersionsRequest, ApiVersionsResponse, 0, {});
  return client;
}

async function settledMiB(contender: Contender): Promise<number> {
  await delay(5000);
  return residentMiB(contender.pid);
}

const benchDirectory = process.env['ODRADEK_BENCH_TOOLS'] ?? join(import.meta.dirname, '../../shared/bench');
if (!existsSync(join(benchDirectory, 'kafka-ref.sh'))) {
  console.error(`There are no comparison scripts in ${benchDirectory}; ODRADEK_BENCH_TOOLS says where they are.`);
  process.exit(1);
}
const kafkaDirectory = process.env['KAFKA_REF'] ?? join(homedir(), '.cache/kafka-ref');
if (!existsSync(kafkaDirectory)) spawnSync(join(benchDirectory, 'kafka-dist.sh'), [kafkaDirectory], { stdio: 'inherit' });
const program = needed(await goProgram('group-members', join(import.meta.dirname, 'compare/group-members')));
const kafka = new ApacheKafka(benchDirectory, 21392);
const odradek = new Odradek(
  await freePort(),
  values.profile ? ['--cpu-prof', `--cpu-prof-dir=${cacheDirectory('profiles')}`] : [],
  // As kafka-ref.sh sets it: the first member does not wait for others.
  { 'group.initial.rebalance.delay.ms': 0 },
);
const contenders: readonly Contender[] = [kafka, odradek];
console.log(`Odradek: ${odradek.form}, Node ${process.version}; ${reps} repetitions, medians.`);
try {
  for (const contender of contenders) await contender.start();
  for (const protocol of values.protocols.split(',').filter(Boolean)) {
    for (const contender of contenders) await measureGroup(program, contender, protocol, true);
    for (let rep = 0; rep < reps; rep++) {
      for (const contender of contenders) await measureGroup(program, contender, protocol, false);
    }
  }
  if (connections > 0) for (const contender of contenders) await measureIdleConnections(contender);
} finally {
  table.print();
  for (const contender of contenders) await contender.wipe();
}
if (values.profile) console.log(`Profiles are in ${cacheDirectory('profiles')}.`);
