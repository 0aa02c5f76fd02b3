// Who the broker is, and the switches and limits that belong to no single part of it.

import { atLeast, between, boolean, className, distinct, int, list, long, maxLong, string } from '@odradek/runtime';
import { protocolVersion } from './checks.ts';

export const serverSettings = {
  'broker.id': int(-1, {
    importance: 'HIGH',
    doc: 'The number of this broker in its cluster. -1 leaves it to node.id, to meta.properties in the log directories or, where broker.id.generation.enable is set, to a generated number.',
  }),
  'node.id': int(-1, {
    importance: 'HIGH',
    doc: "The number of this node, under the name that newer Kafka uses. Odradek takes it as the broker's number; when broker.id is set too, both must agree.",
  }),
  'broker.id.generation.enable': boolean(true, {
    doc: 'Whether a broker without a number gets one from the coordination store, above reserved.broker.max.id, and keeps it in meta.properties.',
  }),
  'reserved.broker.max.id': int(1000, {
    valid: atLeast(0),
    doc: 'The largest number that may be given by hand; generated numbers begin above it.',
  }),
  'broker.rack': string(null, {
    doc: 'The rack, zone or room the broker stands in. Replicas are spread over racks, and consumers can read from a replica in their own.',
  }),
  'background.threads': int(10, {
    importance: 'HIGH',
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many threads Kafka keeps for background work. Odradek does this work on its event loop, so the number has no effect.',
  }),
  'num.io.threads': int(8, {
    importance: 'HIGH',
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many threads Kafka uses to process requests. Odradek processes requests on its event loop, so the number has no effect.',
  }),
  'num.network.threads': int(3, {
    importance: 'HIGH',
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many threads Kafka uses per listener to read and write the network. Odradek leaves this to Node.js, so the number has no effect.',
  }),
  'delete.topic.enable': boolean(true, {
    importance: 'HIGH',
    doc: 'Whether topics can be deleted. When false, requests to delete a topic are refused.',
  }),
  'auto.create.topics.enable': boolean(true, {
    importance: 'HIGH',
    doc: 'Whether a metadata request that names a topic which does not exist creates it, with num.partitions and default.replication.factor.',
  }),
  'num.partitions': int(1, {
    valid: atLeast(1),
    doc: 'How many partitions a topic gets when neither the request nor anything else says so.',
  }),
  'default.replication.factor': int(1, {
    doc: 'How many replicas a topic gets when the request does not say so, automatic creation included.',
  }),
  'request.timeout.ms': int(30000, {
    importance: 'HIGH',
    doc: 'How long this broker waits for the answer to a request that it sends itself, to another broker or to the controller.',
  }),
  'message.max.bytes': int(1048588, {
    importance: 'HIGH',
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'The largest record batch accepted, in bytes after compression. A topic sets its own limit with max.message.bytes.',
  }),
  'max.decompressed.message.bytes': int(2147483639, {
    valid: between(1, 2147483639),
    update: 'cluster-wide',
    doc: 'The largest size a compressed record batch may reach when it is decompressed; a larger one is refused before memory runs out.',
  }),
  'create.topic.policy.class.name': className(null, {
    importance: 'LOW',
    doc: 'A Java class that judges requests to create topics. Odradek runs no Java classes and refuses to start with one set, rather than ignore a policy.',
  }),
  'alter.config.policy.class.name': className(null, {
    importance: 'LOW',
    doc: 'A Java class that judges changes of configuration. Odradek runs no Java classes and refuses to start with one set, rather than ignore a policy.',
  }),
  'config.providers': list('', {
    importance: 'LOW',
    valid: distinct({ mayBeEmpty: true }),
    update: 'cluster-wide',
    doc: 'Names of plug-ins that replace variables in values. Odradek has none: values are taken as they are written.',
  }),
  'metric.reporters': list('org.apache.kafka.common.metrics.JmxReporter', {
    importance: 'LOW',
    valid: distinct({ mayBeEmpty: true }),
    update: 'cluster-wide',
    doc: 'Java classes that receive metrics. The JMX reporter, the default, does not exist in Odradek; other names have no effect.',
  }),
  'kafka.metrics.reporters': list('', {
    importance: 'LOW',
    valid: distinct({ mayBeEmpty: true }),
    doc: 'Java classes of the older metrics interface. They have no effect in Odradek.',
  }),
  'kafka.metrics.polling.interval.secs': int(10, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How often reporters of the older metrics interface are served, in seconds. It has no effect in Odradek.',
  }),
  'metrics.num.samples': int(2, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: "How many samples Kafka's metrics are computed from. It has no effect on Odradek's counters and histograms.",
  }),
  'metrics.sample.window.ms': long(30000, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: "The length of one such sample, in milliseconds. It has no effect on Odradek's counters and histograms.",
  }),
  'metrics.recording.level': string('INFO', {
    importance: 'LOW',
    doc: "How detailed Kafka's metrics are. It has no effect in Odradek, which keeps all of its metrics.",
  }),
  'auto.include.jmx.reporter': boolean(true, {
    importance: 'LOW',
    doc: 'Whether Kafka adds its JMX reporter by itself. There is no JMX in Odradek, so this has no effect.',
  }),
  'telemetry.max.bytes': int(1048576, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'The largest metrics report accepted from a client, in bytes.',
  }),
  'unstable.api.versions.enable': boolean(false, {
    importance: 'HIGH',
    internal: true,
    doc: 'Whether versions of requests that are still being worked on in Kafka are offered. Odradek offers finished versions only, so this has no effect.',
  }),
  'unstable.feature.versions.enable': boolean(false, {
    importance: 'HIGH',
    internal: true,
    doc: 'Whether feature versions that are still being worked on in Kafka may be used. Odradek knows finished ones only, so this has no effect.',
  }),
  'initial.broker.registration.timeout.ms': int(60000, { doc: 'How long a starting broker tries to register before it gives up.' }),
  'broker.heartbeat.interval.ms': int(2000, {
    doc: "How often Kafka's brokers report to a KRaft controller. Odradek has sessions in the coordination store instead, so this has no effect.",
  }),
  'broker.session.timeout.ms': int(9000, {
    doc: 'After how long without a report a KRaft controller gives a broker up. In Odradek zookeeper.session.timeout.ms has this meaning.',
  }),
  'server.max.startup.time.ms': long(maxLong, {
    valid: atLeast(0),
    internal: true,
    doc: 'How long the start may take before the broker gives up, in milliseconds.',
  }),
  'inter.broker.protocol.version': string('3.9-IV0', {
    valid: protocolVersion,
    doc: 'The release whose requests brokers use among themselves while a cluster is being upgraded. Odradek speaks the protocol of 3.9 with its ZooKeeper peers; a lower version is accepted and has no effect.',
  }),
};
