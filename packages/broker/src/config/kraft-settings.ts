// KRaft. Odradek has no quorum of its own: these settings are accepted, so that a file written for Kafka starts a broker, and have no effect unless one says so.

import { atLeast, boolean, distinct, int, list, long, oneOf, string } from '@odradek/runtime';
import { quorumAddresses } from './checks.ts';

export const kraftSettings = {
  'process.roles': list('', {
    importance: 'HIGH',
    valid: oneOf('broker', 'controller'),
    doc: 'The roles of a KRaft node. Odradek always is a broker and its own controller; a file that names only controller is refused.',
  }),
  'controller.listener.names': list(null, {
    importance: 'HIGH',
    valid: distinct({ mayBeEmpty: false }),
    doc: "The listeners of KRaft's controller. Those among listeners are not opened.",
  }),
  'controller.quorum.voters': list('', {
    importance: 'HIGH',
    valid: quorumAddresses,
    doc: "The nodes of KRaft's quorum. Ignored: a single broker needs none, and a cluster is coordinated by ZooKeeper.",
  }),
  'controller.quorum.bootstrap.servers': list('', {
    importance: 'HIGH',
    valid: quorumAddresses,
    doc: "Where KRaft's quorum is found. Ignored.",
  }),
  'controller.quorum.auto.join.enable': boolean(false, {
    importance: 'LOW',
    doc: 'Whether a KRaft controller joins its quorum by itself. Ignored.',
  }),
  'controller.quorum.election.timeout.ms': int(1000, {
    importance: 'HIGH',
    valid: atLeast(0),
    doc: 'How long a KRaft node waits for the leader before it calls an election. Ignored.',
  }),
  'controller.quorum.election.backoff.max.ms': int(1000, {
    importance: 'HIGH',
    valid: atLeast(0),
    doc: 'The longest wait between two such elections. Ignored.',
  }),
  'controller.quorum.fetch.timeout.ms': int(2000, {
    importance: 'HIGH',
    valid: atLeast(0),
    doc: 'How long a KRaft node goes on without a fetch. Ignored.',
  }),
  'controller.quorum.fetch.max.bytes': int(1048576, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How many bytes of metadata a KRaft node fetches at once. Ignored.',
  }),
  'controller.quorum.fetch.snapshot.max.bytes': int(1048576, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How many bytes of a snapshot a KRaft node fetches at once. Ignored.',
  }),
  'controller.quorum.append.linger.ms': int(25, {
    valid: atLeast(0),
    doc: "How long KRaft's leader gathers metadata records. Ignored.",
  }),
  'controller.quorum.request.timeout.ms': int(2000, {
    valid: atLeast(0),
    doc: 'How long a KRaft node waits for an answer. Ignored.',
  }),
  'controller.quorum.retry.backoff.ms': int(20, {
    importance: 'LOW',
    valid: atLeast(0),
    doc: 'How long a KRaft node waits before it tries again. Ignored.',
  }),
  'controller.performance.sample.period.ms': long(60000, {
    valid: atLeast(100),
    internal: true,
    doc: "How often KRaft's controller reports how long its events take. Ignored.",
  }),
  'controller.performance.always.log.threshold.ms': long(2000, {
    valid: atLeast(0),
    internal: true,
    doc: "From how many milliseconds on KRaft's controller always logs an event. Ignored.",
  }),
  'metadata.log.dir': string(null, { importance: 'HIGH', doc: "The directory of KRaft's metadata log. Ignored." }),
  'metadata.log.segment.bytes': int(1073741824, {
    importance: 'HIGH',
    valid: atLeast(8388608),
    doc: "The segment size of KRaft's metadata log. Ignored.",
  }),
  'metadata.log.segment.min.bytes': int(8388608, {
    importance: 'HIGH',
    valid: atLeast(12),
    internal: true,
    doc: 'The smallest such size Kafka 3.9 accepts. Ignored.',
  }),
  'metadata.log.segment.ms': long(604800000, {
    importance: 'HIGH',
    doc: "The age at which a segment of KRaft's metadata log is closed. Ignored.",
  }),
  'metadata.log.max.record.bytes.between.snapshots': long(20971520, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many bytes of metadata lie between two KRaft snapshots. Ignored.',
  }),
  'metadata.log.max.snapshot.interval.ms': long(3600000, {
    importance: 'HIGH',
    valid: atLeast(0),
    doc: 'How long KRaft waits between two snapshots at most. Ignored.',
  }),
  'metadata.max.retention.bytes': long(104857600, { importance: 'HIGH', doc: 'How many bytes of metadata KRaft keeps. Ignored.' }),
  'metadata.max.retention.ms': long(604800000, { importance: 'HIGH', doc: 'How long KRaft keeps metadata. Ignored.' }),
  'metadata.max.idle.interval.ms': int(500, {
    importance: 'LOW',
    valid: atLeast(0),
    doc: "How often KRaft's leader writes a record when there is nothing else to write. Ignored.",
  }),
  'internal.metadata.delete.delay.millis': long(60000, {
    importance: 'LOW',
    internal: true,
    doc: "How long files of KRaft's metadata log stay after they are deleted. Ignored.",
  }),
  'internal.metadata.log.segment.bytes': int(null, {
    importance: 'LOW',
    internal: true,
    doc: "The segment size of KRaft's metadata log, for tests. Ignored.",
  }),
  'internal.metadata.max.batch.size.in.bytes': int(8388608, {
    importance: 'LOW',
    internal: true,
    doc: "The largest batch in KRaft's metadata log. Ignored.",
  }),
};
