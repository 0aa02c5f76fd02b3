// The suites of other people that are run against a broker of ours, and how: what each needs from the machine, and which of its
// parts make sense by now. The scripts themselves lie beside the repository, not in it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { debianProgram, isContinuousIntegration, type Tool } from '@odradek/testing';

/** One call of a suite's script. */
export interface Step {
  /** After the broker's address. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Set apart from other steps in the names of failing tests. */
  readonly part?: string;
  /** The script gets, as its last argument, a command that ends the broker with SIGKILL and starts it again. */
  readonly withCrash?: boolean;
}

/** What runs against one fresh broker. */
export interface SuiteRun {
  readonly mode: string;
  readonly steps: readonly Step[];
  /** All steps together; what is not over by then is ended and counts as failed. */
  readonly limitSeconds: number;
}

export interface Suite {
  readonly name: string;
  readonly looksAt: string;
  /** What its script calls, and the Debian package that brings it. */
  readonly programs: Readonly<Record<string, string>>;
  /** Beside those of `conformanceProperties`. */
  readonly properties?: Readonly<Record<string, string | number>>;
  /** Taken when it is free, by suites that are built for one port. */
  readonly preferredPort?: number;
  readonly runs: readonly SuiteRun[];
}

/** The settings that the suites assume, those of the Apache Kafka that they were measured with. */
export const conformanceProperties: Readonly<Record<string, string | number>> = {
  'broker.id': 1,
  'num.partitions': 2,
  'auto.create.topics.enable': 'true',
  'offsets.topic.replication.factor': 1,
  'transaction.state.log.replication.factor': 1,
  'transaction.state.log.min.isr': 1,
  'group.initial.rebalance.delay.ms': 0,
  'group.min.session.timeout.ms': 100,
  'group.consumer.min.heartbeat.interval.ms': 100,
  'group.consumer.heartbeat.interval.ms': 100,
  'group.share.min.heartbeat.interval.ms': 100,
  'group.share.heartbeat.interval.ms': 100,
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:ANONYMOUS',
  'allow.everyone.if.no.acl.found': 'true',
  'log.cleaner.backoff.ms': 1000,
  'log.retention.check.interval.ms': 5000,
};

const go = { go: 'golang-go' };
const java = { java: 'default-jdk-headless', javac: 'default-jdk-headless', mvn: 'maven', python3: 'python3' };

/** A run of one step, whose argument is what the script calls the mode. */
function run(mode: string, limitSeconds: number, args: readonly string[] = [mode]): SuiteRun {
  return { mode, steps: [{ args }], limitSeconds };
}

// The transaction tests wait for a coordinator that there is none of yet, each to its last time-out, and would take the time of the
// others: sarama's are left out, librdkafka's have a run of their own.
const saramaTests = [
  'TestFuncAdmin',
  'TestFuncClient',
  'TestFuncConsumer',
  'TestFuncDescribeProducers',
  'TestFuncIdempotentBufferedSequence',
  'TestFuncJoinGroup',
  'TestFuncMultiPartitionProduce',
  'TestFuncOffsetManager',
  'TestFuncProducing',
  'TestConsumer',
  'TestInterceptors',
  'TestReadOnlyAndAllCommittedMessages',
  'TestVersionMatrix',
];

/** The parts of librdkafka's test of the admin client, which stops at the first that fails. */
const librdkafkaAdminParts = [
  'do_test_CreateTopics',
  'do_test_DeleteTopics',
  'do_test_CreatePartitions',
  'do_test_CreateAcls',
  'do_test_DescribeAcls',
  'do_test_DeleteAcls',
  'do_test_AlterConfigs',
  'do_test_IncrementalAlterConfigs',
  'do_test_DescribeConfigs',
  'do_test_DeleteRecords',
  'do_test_ListConsumerGroups',
  'do_test_DescribeConsumerGroups',
  'do_test_DescribeTopics',
  'do_test_DescribeCluster',
  'do_test_DeleteGroups',
  'do_test_DeleteConsumerGroupOffsets',
  'do_test_ListOffsets',
  'do_test_AlterConsumerGroupOffsets',
  'do_test_ListConsumerGroupOffsets',
  'do_test_UserScramCredentials',
];

export const suites: readonly Suite[] = [
  {
    name: 'franz-go',
    looksAt: "the Go client's own tests: groups of both protocols, four balancers, chains of consumers and producers",
    programs: go,
    runs: [run('quick', 240), run('etl', 300)],
  },
  {
    name: 'kafka-go',
    looksAt: "another Go client's own tests: old versions, admin",
    programs: go,
    preferredPort: 21400,
    runs: [run('all', 480, [])],
  },
  {
    name: 'sarama',
    looksAt: 'the widest matrix of versions, old and new; admin, groups',
    programs: { ...go, python3: 'python3' },
    runs: [run('without transactions', 300, [`^(${saramaTests.join('|')})`])],
  },
  {
    name: 'librdkafka',
    looksAt: 'the C client: old and middle versions, cut sockets, idempotence',
    programs: { gcc: 'gcc', 'g++': 'g++', make: 'make', npm: 'npm', python3: 'python3' },
    properties: { 'num.partitions': 4 },
    runs: [
      ...(['classic', 'consumer'] as const).map((mode) => ({
        mode,
        steps: [{ args: [mode], env: { TESTS_SKIP: '0081,0098,0103,0129' } }],
        limitSeconds: 900,
      })),
      {
        mode: 'admin',
        steps: librdkafkaAdminParts.map((part) => ({ args: ['0081'], env: { SUBTESTS: part }, part })),
        limitSeconds: 600,
      },
      run('transactions', 300, ['0098,0103,0129']),
    ],
  },
  {
    name: 'java-tools',
    looksAt: "Kafka's own system-test programs with the newest Java client, and its command-line tools",
    programs: java,
    runs: [
      run('without transactions and share groups', 400, ['^(verifiable-(producer|consumer)|cli-(?!transactions|share)|admin)']),
    ],
  },
  {
    name: 'linearizable',
    looksAt: 'whether one partition is a linearizable append-only log, also across kill -9',
    programs: go,
    runs: [{ mode: 'with a crash', steps: [{ args: [], withCrash: true }], limitSeconds: 240 }],
  },
  {
    name: 'flume',
    looksAt: 'Apache Flume 1.11: Kafka channel, source and sink, agents that are killed',
    programs: { ...java, kcat: 'kcat' },
    runs: [run('all', 420, [])],
  },
];

/**
 * Where the scripts are: ODRADEK_CONFORMANCE, or ../shared/conformance beside the repository. undefined when they are absent: then
 * nothing is run, aloud. With CI=true their absence is an error, so that no green run has tested nothing.
 */
export function conformanceDirectory(): string | undefined {
  const directory = process.env['ODRADEK_CONFORMANCE'] ?? join(import.meta.dirname, '../../../shared/conformance');
  if (existsSync(join(directory, 'lib.sh'))) return directory;
  if (isContinuousIntegration) throw new Error(`The conformance suites are not at ${directory}`);
  return undefined;
}

/** The programs that the suite's script calls, each found or said to be missing. */
export async function programsOf(suite: Suite): Promise<readonly Tool<string>[]> {
  const tools: Tool<string>[] = [];
  for (const [program, debianPackage] of Object.entries(suite.programs)) tools.push(await debianProgram(program, debianPackage));
  return tools;
}
