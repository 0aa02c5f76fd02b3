// Replicas: how followers fetch, who is in sync, how leaders are chosen and moved.

import { atLeast, boolean, int, long, string } from '@odradek/runtime';

export const replicationSettings = {
  'min.insync.replicas': int(1, {
    importance: 'HIGH',
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many replicas must have a record before a producer with acks=all gets its answer; with fewer in sync, the write is refused.',
  }),
  'unclean.leader.election.enable': boolean(false, {
    importance: 'HIGH',
    update: 'cluster-wide',
    doc: 'Whether a replica that is not in sync may become leader when no other is left. It keeps the partition available and loses records.',
  }),
  'unclean.leader.election.interval.ms': long(300000, {
    valid: atLeast(1),
    internal: true,
    doc: 'How often partitions without a leader are looked at for an unclean election, where that is allowed.',
  }),
  'replica.lag.time.max.ms': long(30000, {
    importance: 'HIGH',
    doc: 'After how long without having caught up a follower leaves the in-sync replicas.',
  }),
  'replica.fetch.min.bytes': int(1, { importance: 'HIGH', doc: "How many bytes a follower's fetch waits for at the leader." }),
  'replica.fetch.max.bytes': int(1048576, {
    valid: atLeast(0),
    doc: 'How many bytes a follower fetches per partition; a first batch that is larger still comes.',
  }),
  'replica.fetch.response.max.bytes': int(10485760, {
    valid: atLeast(0),
    doc: 'How many bytes a follower fetches in one response.',
  }),
  'replica.fetch.wait.max.ms': int(500, {
    importance: 'HIGH',
    doc: "How long a follower's fetch waits at the leader. It should be below replica.lag.time.max.ms.",
  }),
  'replica.fetch.backoff.ms': int(1000, { valid: atLeast(0), doc: 'How long a follower waits after a failed fetch.' }),
  'replica.socket.timeout.ms': int(30000, {
    importance: 'HIGH',
    doc: "How long a follower waits for the leader's answer. It must be at least replica.fetch.wait.max.ms.",
  }),
  'replica.socket.receive.buffer.bytes': int(65536, {
    importance: 'HIGH',
    doc: "The size of the receive buffer of followers' connections. Node.js leaves buffers to the operating system, so this has no effect.",
  }),
  'replica.high.watermark.checkpoint.interval.ms': long(5000, {
    importance: 'HIGH',
    doc: 'How often the high watermark of each partition is recorded on disk.',
  }),
  'replica.selector.class': string(null, {
    doc: "A Java class that chooses the replica a consumer reads from. Kafka's own RackAwareReplicaSelector is known by name; unset means the leader.",
  }),
  'num.replica.fetchers': int(1, {
    importance: 'HIGH',
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many fetchers follow each broker that leads something here, each over a connection of its own.',
  }),
  'num.replica.alter.log.dirs.threads': int(null, {
    importance: 'HIGH',
    doc: 'How many replicas move between the log directories of a broker at the same time; unset means as many as there are directories.',
  }),
  'auto.leader.rebalance.enable': boolean(true, {
    importance: 'HIGH',
    doc: 'Whether leadership returns to the preferred replicas by itself.',
  }),
  'leader.imbalance.check.interval.seconds': long(300, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How often the controller looks whether leadership should return.',
  }),
  'leader.imbalance.per.broker.percentage': int(10, {
    importance: 'HIGH',
    doc: "How many percent of a broker's partitions may be led elsewhere before leadership returns.",
  }),
  'controlled.shutdown.enable': boolean(true, { doc: 'Whether a broker that stops hands its leaderships over first.' }),
  'controlled.shutdown.max.retries': int(3, { doc: 'How often a stopping broker tries to hand its leaderships over.' }),
  'controlled.shutdown.retry.backoff.ms': long(5000, { doc: 'How long it waits between those tries.' }),
  'controller.socket.timeout.ms': int(30000, { doc: "How long the controller waits for a broker's answer." }),
  'eligible.leader.replicas.enable': boolean(false, {
    importance: 'HIGH',
    doc: 'Whether the controller remembers replicas that left the in-sync set and still have all committed records. A KRaft feature; it has no effect in Odradek.',
  }),
};
