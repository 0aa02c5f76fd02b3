// The clients whose consumers form groups in these tests, and what each of them can do.

import { fileURLToPath } from 'node:url';
import { findProgram, goProgram, needed, pythonWith, type Tool } from '@odradek/testing';
import { java, kafkaTools } from '../java.ts';
import { findKcat } from '../kcat.ts';
import type { ConsumerEvent, ConsumerProgram, GroupConsumerOptions } from './group-consumer.ts';

export interface GroupClient {
  readonly name: string;
  readonly tools: readonly Tool<string>[];
  /** Whether its program tells which partitions it has. */
  readonly tellsAssignment: boolean;
  readonly canBeStatic: boolean;
  readonly canCooperate: boolean;
  /** Speaks the protocol that assigns on the broker, too. */
  readonly hasConsumerProtocol: boolean;
  /** Commits what it has handled before it gives a partition away, so that no record is handled twice. */
  readonly handlesOnce: boolean;
  consumer(options: GroupConsumerOptions): ConsumerProgram;
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const python = findProgram('python3');
const confluent = await pythonWith('confluent-kafka', ['confluent-kafka==2.16.1']);
const kafkaPython = await pythonWith('kafka-python', [
  'kafka-python==3.0.12',
  'crc32c==2.9.post0',
  'python-snappy==0.7.3',
  'lz4==4.4.5',
  'zstandard==0.25.0',
]);
const franz = await goProgram('franz-client', path('../go/franz-client'));
const kcat = await findKcat();
const javaTools = await kafkaTools();

export const groupClients: readonly GroupClient[] = [
  {
    name: 'Java console consumer',
    tools: [java, javaTools],
    tellsAssignment: false,
    canBeStatic: true,
    canCooperate: false,
    hasConsumerProtocol: true,
    handlesOnce: false,
    consumer: (options) => javaConsole(options),
  },
  {
    name: 'kcat',
    tools: [kcat],
    tellsAssignment: true,
    canBeStatic: true,
    canCooperate: true,
    hasConsumerProtocol: false,
    handlesOnce: false,
    consumer: (options) => ({ program: needed(kcat), args: kcatArguments(options), parse: parseKcat }),
  },
  {
    name: 'confluent-kafka',
    tools: [python, confluent],
    tellsAssignment: true,
    canBeStatic: true,
    canCooperate: true,
    hasConsumerProtocol: true,
    handlesOnce: true,
    consumer: (options) => pythonConsumer('confluent', needed(confluent), options),
  },
  {
    name: 'kafka-python',
    tools: [python, kafkaPython],
    tellsAssignment: true,
    canBeStatic: true,
    canCooperate: false,
    hasConsumerProtocol: false,
    handlesOnce: true,
    consumer: (options) => pythonConsumer('kafka-python', needed(kafkaPython), options),
  },
  {
    name: 'kafkajs',
    tools: [],
    tellsAssignment: true,
    canBeStatic: false,
    canCooperate: false,
    hasConsumerProtocol: false,
    handlesOnce: true,
    consumer: ({ bootstrap, group, topic }) => nodeProgram('kafkajs-consumer.ts', [bootstrap, group, topic]),
  },
  {
    name: '@platformatic/kafka',
    tools: [],
    tellsAssignment: false,
    canBeStatic: false,
    canCooperate: false,
    hasConsumerProtocol: true,
    handlesOnce: false,
    consumer: ({ bootstrap, group, topic, protocol }) =>
      nodeProgram('platformatic-consumer.ts', [bootstrap, group, topic, protocol ?? 'classic']),
  },
  {
    name: 'franz-go',
    tools: [franz],
    tellsAssignment: true,
    canBeStatic: true,
    canCooperate: true,
    hasConsumerProtocol: true,
    handlesOnce: true,
    consumer: (options) => ({
      program: needed(franz),
      args: ['group', options.bootstrap, options.topic, options.group, ...wordsOf(options)],
    }),
  },
];

function nodeProgram(name: string, args: readonly string[]): ConsumerProgram {
  return { program: process.execPath, args: [path(name), ...args] };
}

function pythonConsumer(library: string, pythonPath: string, options: GroupConsumerOptions): ConsumerProgram {
  const { bootstrap, group, topic } = options;
  return {
    program: needed(python),
    args: [path('../python/group_consumer.py'), library, bootstrap, group, topic, ...wordsOf(options)],
    env: { PYTHONPATH: pythonPath },
  };
}

function wordsOf({ instanceId, assignor, protocol }: GroupConsumerOptions): string[] {
  return [
    ...(instanceId === undefined ? [] : [`instance=${instanceId}`]),
    ...(assignor === 'cooperative' ? ['assignor=cooperative'] : []),
    ...(protocol === 'consumer' ? ['protocol=consumer'] : []),
  ];
}

/** A static member has to be back before its session ends, also where programs start slowly; others shall be missed soon. */
function sessionTimeoutMs(instanceId: string | undefined): number {
  return instanceId === undefined ? 2000 : 60_000;
}

function kcatArguments({ bootstrap, group, topic, instanceId, assignor }: GroupConsumerOptions): string[] {
  const settings = {
    'auto.offset.reset': 'earliest',
    'auto.commit.interval.ms': 100,
    'session.timeout.ms': sessionTimeoutMs(instanceId),
    'heartbeat.interval.ms': 200,
    'topic.metadata.refresh.interval.ms': 1000,
    'partition.assignment.strategy': assignor === 'cooperative' ? 'cooperative-sticky' : 'range',
    ...(instanceId === undefined ? {} : { 'group.instance.id': instanceId }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-X', `${name}=${value}`]);
  return ['-b', bootstrap, '-G', group, '-u', '-f', '%p %o %s\\n', ...flags, topic];
}

/**
 * `% Group g rebalanced (memberid …): assigned: topic [0], topic [1]`, or `incremental revoke of 2 partition(s) (…): topic [0], …`,
 * and records as ours.
 */
function parseKcat(line: string): ConsumerEvent | undefined {
  const [, kind, partitions = ''] = /^% Group .*\b(assigned|assignment|revoked|revoke)\b.*?: (.*)$/.exec(line) ?? [];
  if (kind !== undefined) {
    const numbers = [...partitions.matchAll(/ \[(\d+)\]/g)].map(([, number]) => Number(number));
    return { kind: kind.startsWith('assign') ? 'assigned' : 'revoked', partitions: numbers };
  }
  const [, partition, offset, value] = /^(\d+) (\d+) (.+)$/.exec(line) ?? [];
  return value === undefined ? undefined : { kind: 'record', partition: Number(partition), offset: Number(offset), value };
}

function javaConsole({ bootstrap, group, topic, instanceId, protocol }: GroupConsumerOptions): ConsumerProgram {
  const settings = {
    'auto.offset.reset': 'earliest',
    'auto.commit.interval.ms': 100,
    'metadata.max.age.ms': 1000,
    ...(protocol === 'consumer'
      ? { 'group.protocol': 'consumer' }
      : { 'session.timeout.ms': sessionTimeoutMs(instanceId), 'heartbeat.interval.ms': 200 }),
    ...(instanceId === undefined ? {} : { 'group.instance.id': instanceId }),
  };
  const show = ['print.partition=true', 'print.offset=true'];
  return {
    program: needed(java),
    args: [
      ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-Xmx256m', '-cp', needed(javaTools)],
      ...['org.apache.kafka.tools.consumer.ConsoleConsumer', '--bootstrap-server', bootstrap, '--topic', topic, '--group', group],
      ...show.flatMap((property) => ['--formatter-property', property]),
      ...Object.entries(settings).flatMap(([name, value]) => ['--command-property', `${name}=${value}`]),
    ],
    parse: (line) => {
      const [, partition, offset, value] = /^Partition:(\d+)\tOffset:(\d+)\t(.*)$/.exec(line) ?? [];
      return value === undefined ? undefined : { kind: 'record', partition: Number(partition), offset: Number(offset), value };
    },
  };
}
