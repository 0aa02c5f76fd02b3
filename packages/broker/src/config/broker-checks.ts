// What must hold between the values of different settings, and what this build cannot do. Each rule is one line that names the
// settings it is about.

import { resolve } from 'node:path';
import { parseConnectString } from '@odradek/coordination';
import { ConfigError } from '@odradek/runtime';
import { authorizerClasses } from './authorizer-settings.ts';
import type { BrokerSettingName, BrokerSettingValue } from './broker-settings.ts';
import { zookeeperIdentityProblems } from './zookeeper-identity.ts';
import { zookeeperTlsProblems } from './zookeeper-tls.ts';

type Get = <K extends BrokerSettingName>(name: K) => BrokerSettingValue<K>;

/** Throws ConfigError at the first rule that does not hold. */
export function checkBrokerValues(get: Get): void {
  for (const problem of [
    ...identityProblems(get),
    ...unsupportedProblems(get),
    ...logProblems(get),
    ...networkProblems(get),
    ...replicationProblems(get),
    ...groupProblems(get),
  ]) {
    if (problem !== undefined) throw new ConfigError(problem);
  }
}

/** How many threads of each kind there are. */
const threadPools = [
  'num.network.threads',
  'num.io.threads',
  'num.replica.fetchers',
  'num.recovery.threads.per.data.dir',
  'background.threads',
  'log.cleaner.threads',
] as const;

/** Throws ConfigError where a pool of threads would more than double or halve at once: Kafka refuses that while a broker runs (KIP-226). */
export function checkThreadChanges(before: Get, after: Get): void {
  for (const name of threadPools) {
    const [from, to] = [before(name), after(name)];
    if (from === to) continue;
    const [least, most] = [Math.max(1, Math.floor(from / 2)), from * 2];
    if (to < least || to > most) {
      throw new ConfigError(`${name} can go from ${from} to between ${least} and ${most} while the broker runs, not to ${to}`);
    }
  }
}

type Problem = string | undefined;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function identityProblems(get: Get): Problem[] {
  const id = get('broker.id');
  const canGenerate = get('broker.id.generation.enable');
  return [
    id < -1 ? `broker.id must be 0 or more, or -1 to have one generated, not ${id}` : undefined,
    id === -1 && !canGenerate ? 'broker.id must be 0 or more, since broker.id.generation.enable is false' : undefined,
    get('zookeeper.connect') !== null && canGenerate && id > get('reserved.broker.max.id')
      ? `broker.id must not be above reserved.broker.max.id, which is ${get('reserved.broker.max.id')}, while broker.id.generation.enable is true`
      : undefined,
  ];
}

/** Better not to start than to leave out what somebody relies on. */
function unsupportedProblems(get: Get): Problem[] {
  const roles = get('process.roles');
  const policies = ['create.topic.policy.class.name', 'alter.config.policy.class.name', 'client.quota.callback.class'] as const;
  return [
    zookeeperProblem(get('zookeeper.connect')),
    ...zookeeperTlsProblems(get),
    ...zookeeperIdentityProblems(get),
    get('zookeeper.metadata.migration.enable')
      ? 'zookeeper.metadata.migration.enable is true, but there is no KRaft in Odradek to move to'
      : undefined,
    roles.length > 0 && !roles.includes('broker')
      ? 'process.roles names only controller: Odradek has no separate controllers, start it as a broker'
      : undefined,
    get('remote.log.storage.system.enable')
      ? 'remote.log.storage.system.enable is true, but Odradek has no tiered storage'
      : undefined,
    get('authorizer.class.name') === '' || authorizerClasses.includes(get('authorizer.class.name'))
      ? undefined
      : `authorizer.class.name names a Java class, ${get('authorizer.class.name')}, which Odradek cannot run; it has ${authorizerClasses.join(' and ')}`,
    ...policies.map((name) =>
      get(name) === null || get(name) === '' ? undefined : `${name} names a Java class, ${get(name)}, which Odradek cannot run`,
    ),
    get('principal.builder.class').endsWith('.DefaultKafkaPrincipalBuilder')
      ? undefined
      : `principal.builder.class names a Java class, ${get('principal.builder.class')}, which Odradek cannot run`,
  ];
}

function zookeeperProblem(connect: string | null): Problem {
  if (connect === null) return undefined;
  try {
    parseConnectString(connect);
    return undefined;
  } catch (error) {
    return `zookeeper.connect: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function logProblems(get: Get): Problem[] {
  const rollMs = get('log.roll.ms') ?? get('log.roll.hours') * hourMs;
  const jitterMs = get('log.roll.jitter.ms') ?? get('log.roll.jitter.hours') * hourMs;
  const minutes = get('log.retention.minutes');
  const retentionMs = get('log.retention.ms') ?? (minutes === null ? get('log.retention.hours') * hourMs : minutes * minuteMs);
  const directories = get('log.dirs') ?? get('log.dir');
  const threads = get('log.cleaner.threads');
  const paths = new Set(['*', ...directories.map((path) => resolve(path))]);
  const strayCordoned = get('cordoned.log.dirs').find((path) => path !== '*' && !paths.has(resolve(path)));
  return [
    rollMs < 1 ? `log.roll.ms must be at least 1, not ${rollMs}` : undefined,
    jitterMs < 0 ? `log.roll.jitter.ms must not be negative, not ${jitterMs}` : undefined,
    // Anything negative keeps records for ever.
    retentionMs === 0 ? 'log.retention.ms must be at least 1, or -1 to keep records for ever' : undefined,
    directories.length === 0 || directories.includes('') ? 'log.dirs or log.dir must name a directory' : undefined,
    strayCordoned === undefined
      ? undefined
      : `cordoned.log.dirs must name directories of log.dirs or log.dir, or * for all of them, not ${strayCordoned}`,
    threads > 0 && get('log.cleaner.dedupe.buffer.size') / threads <= 1024 * 1024
      ? 'log.cleaner.dedupe.buffer.size must be more than 1 MiB for each of log.cleaner.threads'
      : undefined,
    get('log.cleaner.min.compaction.lag.ms') > get('log.cleaner.max.compaction.lag.ms')
      ? 'log.cleaner.min.compaction.lag.ms must not be above log.cleaner.max.compaction.lag.ms'
      : undefined,
  ];
}

function networkProblems(get: Get): Problem[] {
  const queuedBytes = get('queued.max.request.bytes');
  const idleMs = get('connections.max.idle.ms');
  return [
    queuedBytes > 0 && queuedBytes < get('socket.request.max.bytes')
      ? 'queued.max.request.bytes must be at least socket.request.max.bytes, or 0 or less for no limit'
      : undefined,
    get('max.connections.per.ip') === 0 && get('max.connections.per.ip.overrides').trim() === ''
      ? 'max.connections.per.ip can be 0 only where max.connections.per.ip.overrides lets somebody in'
      : undefined,
    connectionOverridesProblem(get('max.connections.per.ip.overrides')),
    idleMs >= 0 && get('connection.failed.authentication.delay.ms') >= idleMs
      ? 'connection.failed.authentication.delay.ms must be below connections.max.idle.ms'
      : undefined,
  ];
}

function connectionOverridesProblem(text: string): Problem {
  const bad = text
    .split(',')
    .map((entry) => entry.trim())
    .find((entry) => entry !== '' && !/^[0-9a-zA-Z._%:-]+:\d+$/.test(entry));
  return bad === undefined ? undefined : `max.connections.per.ip.overrides must list host:count, but an entry is: ${bad}`;
}

function replicationProblems(get: Get): Problem[] {
  return [
    get('replica.fetch.wait.max.ms') > get('replica.socket.timeout.ms')
      ? 'replica.socket.timeout.ms must be at least replica.fetch.wait.max.ms, or fetches that wait would fail'
      : undefined,
    get('replica.fetch.wait.max.ms') > get('replica.lag.time.max.ms')
      ? 'replica.fetch.wait.max.ms must not be above replica.lag.time.max.ms, or followers would leave the in-sync replicas'
      : undefined,
  ];
}

function groupProblems(get: Get): Problem[] {
  const within = (name: BrokerSettingName, min: BrokerSettingName, max: BrokerSettingName): Problem[] => {
    const [value, low, high] = [get(name), get(min), get(max)];
    if (typeof value !== 'number' || typeof low !== 'number' || typeof high !== 'number') return [];
    return [
      low > high ? `${min} must not be above ${max}` : undefined,
      value < low || value > high ? `${name} must be between ${min} and ${max}` : undefined,
    ];
  };
  const kinds = ['consumer', 'share', 'streams'] as const;
  return [
    get('group.coordinator.rebalance.protocols').includes('classic')
      ? undefined
      : 'group.coordinator.rebalance.protocols must include classic',
    get('group.consumer.assignors').length === 0 ? 'group.consumer.assignors must not be empty' : undefined,
    ...kinds.flatMap((kind) => [
      ...(['session.timeout.ms', 'heartbeat.interval.ms', 'assignment.interval.ms'] as const).flatMap((what) =>
        within(`group.${kind}.${what}`, `group.${kind}.min.${what}`, `group.${kind}.max.${what}`),
      ),
      get(`group.${kind}.heartbeat.interval.ms`) >= get(`group.${kind}.session.timeout.ms`)
        ? `group.${kind}.heartbeat.interval.ms must be below group.${kind}.session.timeout.ms`
        : undefined,
    ]),
    ...(['delivery.count.limit', 'record.lock.duration.ms', 'partition.max.record.locks'] as const).flatMap((what) =>
      within(`group.share.${what}`, `group.share.min.${what}`, `group.share.max.${what}`),
    ),
    get('group.streams.num.standby.replicas') > get('group.streams.max.standby.replicas')
      ? 'group.streams.num.standby.replicas must not be above group.streams.max.standby.replicas'
      : undefined,
    get('group.streams.num.warmup.replicas') > get('group.streams.max.warmup.replicas')
      ? 'group.streams.num.warmup.replicas must not be above group.streams.max.warmup.replicas'
      : undefined,
    get('group.streams.task.offset.interval.ms') < get('group.streams.min.task.offset.interval.ms')
      ? 'group.streams.task.offset.interval.ms must not be below group.streams.min.task.offset.interval.ms'
      : undefined,
  ];
}
