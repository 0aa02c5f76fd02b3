// Apache Kafka and Odradek under the same load, one after the other in one run; a table with ratios.
//
//   npm run bench -- compare [--only start,memory,produce,fetch,topics,partitions] [--reps 3] [--seconds 4]
//     [--loads REGEX] [--profile]
//
// --loads picks among the produce loads by their names, as "100 B, batch 64k".
// Needs Java 17, Maven, Go and kcat, and a folder with the comparison scripts (kafka-dist.sh, kafka-ref.sh, go/): ../shared/bench
// beside the repository, or ODRADEK_BENCH_TOOLS. `npm run build` first: the emitted JavaScript is what is measured.
// Ratios below 1 mean that Odradek needs less; for throughput above 1 is better. CPU per record is the steadiest figure.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cacheDirectory, debianProgram, freePort, needed, uniqueName } from '@odradek/testing';
import { ApacheKafka, type Contender, Odradek } from './compare/contenders.ts';
import { followEnd, type LoadTools, probe, produce, readAll } from './compare/load.ts';
import { cpuSeconds, residentMiB } from './compare/process-usage.ts';
import { RatioTable } from './compare/ratio-table.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'start,memory,produce,fetch,topics,partitions' },
    reps: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    loads: { type: 'string', default: '' },
    profile: { type: 'boolean', default: false },
  },
});
const parts = new Set(values.only.split(','));
const reps = Number(values.reps);
const seconds = Number(values.seconds);

const table = new RatioTable();

async function prepareTools(benchDirectory: string): Promise<LoadTools> {
  const kafka = process.env['KAFKA_REF'] ?? join(homedir(), '.cache/kafka-ref');
  if (!existsSync(join(kafka, 'bin/kafka-producer-perf-test'))) run(join(benchDirectory, 'kafka-dist.sh'), [kafka]);
  const probes = join(cacheDirectory('bench'), 'probes');
  if (!existsSync(probes)) run('go', ['build', '-o', probes, '.'], join(benchDirectory, 'go'));
  return { kafka, probes, kcat: needed(await debianProgram('kcat', 'kcat')) };
}

function run(program: string, args: readonly string[], cwd?: string): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit', cwd });
  if (status !== 0) throw new Error(`${program} exited with ${status}`);
}

/** From the start of the process to the first acks=all record of a new topic, and what it used for that. */
async function measureStart(tools: LoadTools, contender: Contender): Promise<void> {
  await contender.wipe();
  // The first start makes the folder; the second, on the stopped empty broker, is the one that is timed on both sides.
  await contender.start();
  await contender.stop();
  for (let rep = 0; rep < reps; rep++) {
    const startedNs = contender.spawn();
    const said = await probe(tools, ['cold', contender.bootstrap, String(startedNs), uniqueName('first')]);
    const [, open, acknowledged] = /port open after (\d+) ms.*acknowledged after (\d+) ms/.exec(said) ?? [];
    table.record(contender, 'start to first acknowledged record', 'ms', 'at most 0.125', Number(acknowledged));
    table.record(contender, 'start to open port', 'ms', '', Number(open));
    table.record(contender, 'CPU of a start', 's', '', cpuSeconds(contender.pid));
    await contender.stop();
  }
}

async function measureMemory(contender: Contender): Promise<void> {
  await contender.wipe();
  await contender.start();
  await delay(30_000);
  table.record(contender, 'resident memory after 30 s idle', 'MiB', 'at most 0.25', residentMiB(contender.pid));
}

const produceCases = [100, 1024].flatMap((size) =>
  (['default', '64k'] as const).flatMap((batch) => (['1', 'all'] as const).map((acks) => ({ size, batch, acks }))),
);

/** So many that a run takes about as long as was asked for, on a machine of the size of ours. */
function recordCount(size: number): number {
  return Math.round(seconds * (size <= 200 ? 400_000 : 100_000));
}

async function measureProduce(tools: LoadTools, contenders: readonly Contender[]): Promise<void> {
  for (const contender of contenders) {
    await contender.wipe();
    await contender.start();
    for (const size of [100, 1024]) {
      await produce(tools, contender, {
        topic: uniqueName('warm'),
        records: recordCount(size),
        size,
        acks: 'all',
        batch: 'default',
      });
    }
  }
  for (const { size, batch, acks } of produceCases) {
    if (!new RegExp(values.loads).test(`${size} B, batch ${batch}, acks=${acks}`)) continue;
    for (let rep = 0; rep < reps; rep++) {
      for (const contender of contenders) {
        const load = { topic: uniqueName('produce'), records: recordCount(size), size, acks, batch };
        const result = await produce(tools, contender, load);
        const what = `${size} B, batch ${batch}, acks=${acks}`;
        table.record(contender, `broker CPU per million records, ${what}`, 's', 'at most 0.7', result.brokerCpuPerMillion);
        table.record(contender, `throughput, ${what}`, 'records/s', 'at least 1', result.recordsPerSecond);
        table.record(contender, `99th percentile latency, ${what}`, 'ms', '', result.p99Ms);
      }
    }
  }
  for (const contender of contenders) {
    table.record(contender, 'resident memory after producing', 'MiB', '', residentMiB(contender.pid));
  }
}

/** Readers cost what they add: the same paced producing is measured with them and without. */
async function measureFetch(tools: LoadTools, contenders: readonly Contender[]): Promise<void> {
  for (const contender of contenders) {
    await contender.wipe();
    await contender.start();
    await produce(tools, contender, {
      topic: uniqueName('warm'),
      records: recordCount(1024),
      size: 1024,
      acks: 'all',
      batch: '64k',
    });
  }
  const readers = 3;
  for (let rep = 0; rep < reps; rep++) {
    for (const contender of contenders) {
      const rate = 40_000;
      const records = rate * seconds * 2;
      const gigabytes = (records * 1024) / 1e9;
      const load = { records, size: 1024, acks: '1', batch: '64k', rate } as const;
      const alone = await produce(tools, contender, { ...load, topic: uniqueName('alone') });
      const topic = uniqueName('followed');
      await produce(tools, contender, { ...load, records: 1000, topic });
      const following = Array.from({ length: readers }, () => followEnd(tools, contender, topic, records + 1000));
      const before = cpuSeconds(contender.pid);
      await produce(tools, contender, { ...load, topic });
      await Promise.all(following);
      const followed = cpuSeconds(contender.pid) - before;
      const cost = (followed - alone.brokerCpu) / (gigabytes * readers);
      table.record(contender, 'broker CPU per GB fetched by readers that keep up', 's', 'at most 1', cost);
      const all = await readAll(tools, contender, topic);
      table.record(contender, 'broker CPU per GB read from the beginning', 's', '', all.brokerCpu / gigabytes);
      table.record(contender, 'reading from the beginning', 'MB/s', '', (gigabytes * 1000) / all.seconds);
    }
  }
}

async function measureTopics(tools: LoadTools, contender: Contender): Promise<void> {
  await contender.wipe();
  await contender.start();
  const prefix = uniqueName('t');
  const said = await probe(tools, ['topics', contender.bootstrap, '1000', '1', prefix]);
  const [, answered, led] = /answered after (\d+) ms, all led after (\d+) ms/.exec(said) ?? [];
  table.record(contender, '1,000 topics created', 'ms', 'below 1,000 ms', Number(answered));
  table.record(contender, '1,000 topics created and led', 'ms', '', Number(led));
  table.record(contender, 'resident memory with 1,000 topics', 'MiB', '', residentMiB(contender.pid));
  for (const end of ['stop', 'kill'] as const) {
    await contender[end]();
    const startedNs = contender.spawn();
    const restarted = await probe(tools, ['led', contender.bootstrap, prefix, '1000', String(startedNs)]);
    const [, ms] = /acknowledged: (\d+) ms/.exec(restarted) ?? [];
    const how = end === 'stop' ? 'clean stop' : 'kill -9';
    table.record(contender, `restart on 1,000 topics after a ${how}, a record to each`, 'ms', 'below 1,000 ms', Number(ms));
  }
}

async function measurePartitions(tools: LoadTools, contender: Contender): Promise<void> {
  await contender.wipe();
  await contender.start();
  for (let round = 0; round < 10; round++) {
    await probe(tools, ['topics', contender.bootstrap, '10', '100', uniqueName('p')]);
  }
  await delay(10_000);
  table.record(contender, 'resident memory with 10,000 partitions, 10 s later', 'MiB', 'below 250 MiB', residentMiB(contender.pid));
}

const benchDirectory = process.env['ODRADEK_BENCH_TOOLS'] ?? join(import.meta.dirname, '../../shared/bench');
if (!existsSync(join(benchDirectory, 'kafka-ref.sh'))) {
  console.error(`There are no comparison scripts in ${benchDirectory}; ODRADEK_BENCH_TOOLS says where they are.`);
  process.exit(1);
}
const tools = await prepareTools(benchDirectory);
const kafka = new ApacheKafka(benchDirectory, 21292);
const odradek = new Odradek(await freePort(), values.profile ? ['--cpu-prof', `--cpu-prof-dir=${cacheDirectory('profiles')}`] : []);
const contenders: readonly Contender[] = process.env['ODRADEK_BENCH_CONTENDERS'] === 'Kafka' ? [kafka] : [kafka, odradek];
console.log(`Odradek: ${odradek.form}, Node ${process.version}; ${reps} repetitions, medians.`);
try {
  if (parts.has('start')) for (const contender of contenders) await measureStart(tools, contender);
  if (parts.has('memory')) {
    for (const contender of contenders) {
      await measureMemory(contender);
      await contender.stop();
    }
  }
  if (parts.has('produce')) await measureProduce(tools, contenders);
  if (parts.has('fetch')) await measureFetch(tools, contenders);
  if (parts.has('topics')) for (const contender of contenders) await measureTopics(tools, contender);
  if (parts.has('partitions')) for (const contender of contenders) await measurePartitions(tools, contender);
} finally {
  table.print();
  for (const contender of contenders) await contender.wipe();
}
if (values.profile) console.log(`Profiles are in ${cacheDirectory('profiles')}.`);
