// What can be set for one group. Where it is not, the broker setting group.NAME counts.

import { atLeast, boolean, distinct, int, list, long, oneOf, string } from '@odradek/runtime';
import { offsetReset } from './checks.ts';

export const perGroupSettings = {
  'consumer.session.timeout.ms': int(45000, {
    valid: atLeast(1),
    doc: 'After how long without a heartbeat a member of the consumer group is removed.',
  }),
  'consumer.heartbeat.interval.ms': int(5000, {
    valid: atLeast(1),
    doc: 'How often members of the consumer group send heartbeats while it is at rest.',
  }),
  'consumer.assignment.interval.ms': int(1000, {
    valid: atLeast(0),
    doc: 'The shortest time between two new assignments of the consumer group.',
  }),
  'consumer.assignor.offload.enable': boolean(true, {
    internal: true,
    doc: "Whether assignments are computed aside from the coordinator's thread. Odradek has one event loop, so this has no effect.",
  }),
  'errors.deadletterqueue.topic.name': string('', {
    doc: 'The topic for records that the share group could not process; empty: they are given up.',
  }),
  'errors.deadletterqueue.copy.record.enable': boolean(false, {
    doc: "Whether a dead letter carries the record's key and value, and not only where it was.",
  }),
  'share.session.timeout.ms': int(45000, {
    valid: atLeast(1),
    doc: 'After how long without a heartbeat a member of the share group is removed.',
  }),
  'share.heartbeat.interval.ms': int(5000, { valid: atLeast(1), doc: 'How often members of the share group send heartbeats.' }),
  'share.assignment.interval.ms': int(1000, {
    valid: atLeast(0),
    doc: 'The shortest time between two new assignments of the share group.',
  }),
  'share.assignor.offload.enable': boolean(true, {
    internal: true,
    doc: "Whether assignments are computed aside from the coordinator's thread. Odradek has one event loop, so this has no effect.",
  }),
  'share.auto.offset.reset': string('latest', {
    valid: offsetReset,
    doc: 'Where the share group begins in a partition: latest, earliest, or by_duration: and a time span such as PT1H.',
  }),
  'share.delivery.count.limit': int(5, {
    valid: atLeast(2),
    doc: 'How often a record is handed out before it counts as undeliverable.',
  }),
  'share.isolation.level': string('read_uncommitted', {
    valid: oneOf('read_committed', 'read_uncommitted'),
    doc: 'Whether the share group gets records of open transactions: read_uncommitted does, read_committed does not.',
  }),
  'share.partition.max.record.locks': int(2000, {
    valid: atLeast(100),
    doc: 'How many records of one partition may be held at a time.',
  }),
  'share.record.lock.duration.ms': int(30000, {
    valid: atLeast(1000),
    doc: 'How long a consumer holds a record before it is handed to another.',
  }),
  'share.renew.acknowledge.enable': boolean(true, { doc: 'Whether a consumer may ask to hold a record for longer.' }),
  'streams.session.timeout.ms': int(45000, {
    valid: atLeast(1),
    doc: 'After how long without a heartbeat a member of the streams group is removed.',
  }),
  'streams.heartbeat.interval.ms': int(5000, { valid: atLeast(1), doc: 'How often members of the streams group send heartbeats.' }),
  'streams.assignment.interval.ms': int(1000, {
    valid: atLeast(0),
    doc: 'The shortest time between two new assignments of the streams group.',
  }),
  'streams.assignor.name': string(null, { doc: "The assignor of the streams group; unset: the broker's first." }),
  'streams.assignor.offload.enable': boolean(true, {
    internal: true,
    doc: "Whether assignments are computed aside from the coordinator's thread. Odradek has one event loop, so this has no effect.",
  }),
  'streams.initial.rebalance.delay.ms': int(3000, {
    valid: atLeast(0),
    doc: 'How long the empty group waits for more members before its first assignment.',
  }),
  'streams.num.standby.replicas': int(0, { valid: atLeast(0), doc: 'How many standby copies each stateful task has.' }),
  'streams.num.warmup.replicas': int(2, {
    valid: atLeast(0),
    internal: true,
    doc: 'How many tasks may be warmed up elsewhere at a time.',
  }),
  'streams.acceptable.recovery.lag': long(10000, {
    valid: atLeast(0),
    internal: true,
    doc: 'How many records behind a copy may be and still count as caught up.',
  }),
  'streams.task.offset.interval.ms': int(60000, {
    valid: atLeast(1),
    internal: true,
    doc: 'How often members report how far their tasks are.',
  }),
  'streams.rack.aware.assignment.tags': list('', {
    importance: 'LOW',
    valid: distinct({ mayBeEmpty: true }),
    doc: 'The client tags that standby copies are spread over.',
  }),
};
