// Transactions: time-outs, and the topic __transaction_state.

import { atLeast, boolean, int, short } from '@odradek/runtime';

export const transactionSettings = {
  'transaction.max.timeout.ms': int(900000, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'The longest transaction timeout a producer may ask for.',
  }),
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': int(10000, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How often transactions that took too long are looked for and aborted.',
  }),
  'transaction.remove.expired.transaction.cleanup.interval.ms': int(3600000, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How often transactional ids that have expired are looked for and forgotten.',
  }),
  'transaction.partition.verification.enable': boolean(true, {
    importance: 'LOW',
    update: 'cluster-wide',
    doc: 'Whether a partition makes sure with the coordinator that a transaction knows of it before it takes the first record.',
  }),
  'transaction.two.phase.commit.enable': boolean(false, {
    importance: 'LOW',
    doc: 'Whether producers may keep a transaction prepared for an outside coordinator, without a timeout.',
  }),
  'transactional.id.expiration.ms': int(604800000, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'After how long without activity a transactional id is forgotten.',
  }),
  'transaction.state.log.num.partitions': int(50, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many partitions __transaction_state gets. It must not change once the topic exists.',
  }),
  'transaction.state.log.replication.factor': short(3, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many replicas __transaction_state gets. When unset, as many as there are live brokers, up to the default.',
  }),
  'transaction.state.log.min.isr': int(2, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'The min.insync.replicas of __transaction_state. When unset, never more than its replicas.',
  }),
  'transaction.state.log.segment.bytes': int(104857600, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'The segment size of __transaction_state.',
  }),
  'transaction.state.log.load.buffer.size': int(5242880, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many bytes are read at once when transactions are loaded.',
  }),
  'add.partitions.to.txn.retry.backoff.ms': int(20, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How long the broker waits before it asks the coordinator again, when an earlier transaction is still being completed.',
  }),
  'add.partitions.to.txn.retry.backoff.max.ms': int(100, {
    importance: 'HIGH',
    valid: atLeast(0),
    doc: 'The longest it goes on asking.',
  }),
};
