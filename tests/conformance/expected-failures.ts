// The tests of the suites that we know to fail, each with its reason. A failure that is not here is a fault; one that is here and
// no longer happens is told, and is to be taken off. docs/conformance.md shows the same list.

import type { SuiteResult } from './run-suite.ts';

const reasons = {
  transactions: 'transactions are not built yet',
  kraft: 'asks for what only a KRaft cluster has',
  clientSide: 'fails on Apache Kafka 4.4 too, for a reason in the test',
} as const;

export interface ExpectedFailure {
  readonly suite: string;
  /** As the suite names it; with the part, where a run has parts. */
  readonly test: string;
  readonly reason: string;
  /** It depends on timing, and so may pass. */
  readonly isIntermittent: boolean;
}

export const expectedFailures: readonly ExpectedFailure[] = [
  ...expect('kafka-go', reasons.clientSide, ['TestClientFindCoordinator']),
  ...sometimes('kafka-go', reasons.clientSide, ['TestConn', 'TestReader', 'TestReaderConsumerGroup']),
  ...expect('sarama', reasons.clientSide, ['TestFuncClientMetadata', 'TestFuncIdempotentBufferedSequence']),
  ...sometimes('sarama', reasons.clientSide, ['TestFuncConsumerGroupStaticMembership_Basic']),
  ...expect('librdkafka', reasons.transactions, ['0103_transactions', '0129_fetch_aborted_msgs']),
  ...sometimes('librdkafka', reasons.clientSide, ['0045_subscribe_many_updates', '0102_static_group_rebalance']),
  ...expect('java-tools', reasons.kraft, ['cli-features', 'cli-quorum']),
];

function expect(suite: string, reason: string, tests: readonly string[]): ExpectedFailure[] {
  return tests.map((test) => ({ suite, test, reason, isIntermittent: false }));
}

function sometimes(suite: string, reason: string, tests: readonly string[]): ExpectedFailure[] {
  return tests.map((test) => ({ suite, test, reason, isIntermittent: true }));
}

export interface Judgement {
  readonly unexpected: readonly string[];
  readonly expected: readonly ExpectedFailure[];
  /** On the list, run, and passed. */
  readonly vanished: readonly ExpectedFailure[];
}

export function judge(suite: string, { failed, log }: Pick<SuiteResult, 'failed' | 'log'>): Judgement {
  const known = expectedFailures.filter((failure) => failure.suite === suite);
  return {
    unexpected: failed.filter((test) => !known.some((failure) => failure.test === test)),
    expected: known.filter(({ test }) => failed.includes(test)),
    vanished: known.filter(({ test, isIntermittent }) => !isIntermittent && !failed.includes(test) && hasRun(test, log)),
  };
}

/** Named in the log, and nowhere as one that was skipped: in Go's way or in librdkafka's. */
function hasRun(test: string, log: string): boolean {
  const lines = log.split('\n').filter((line) => line.includes(test));
  return lines.length > 0 && !lines.some((line) => /skip/i.test(line));
}
