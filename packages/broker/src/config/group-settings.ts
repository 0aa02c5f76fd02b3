// Groups of consumers and their offsets: limits, time-outs, and the topic __consumer_offsets.

import { atLeast, boolean, distinct, int, list, long, maxInt, oneOf, oneOfIgnoringCase, short, string } from '@odradek/runtime';

export const groupSettings = {
  'group.min.session.timeout.ms': int(6000, { doc: 'The shortest session timeout a member of a classic group may ask for.' }),
  'group.max.session.timeout.ms': int(1800000, { doc: 'The longest session timeout a member of a classic group may ask for.' }),
  'group.initial.rebalance.delay.ms': int(3000, {
    doc: 'How long an empty classic group waits for more members before its first rebalance.',
  }),
  'group.max.size': int(maxInt, { valid: atLeast(1), doc: 'How many members a classic group may have.' }),
  'group.coordinator.rebalance.protocols': list('classic,consumer,streams', {
    valid: oneOf('consumer', 'classic', 'share', 'streams'),
    doc: 'The kinds of groups this broker coordinates. classic cannot be left out.',
  }),
  'group.coordinator.threads': int(4, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: "How many threads Kafka's group coordinator uses. Odradek coordinates groups on its event loop, so the number has no effect.",
  }),
  'group.coordinator.background.threads': int(2, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: "How many threads Kafka's group coordinator computes assignments with. Odradek computes them on its event loop, so the number has no effect.",
  }),
  'group.coordinator.append.linger.ms': int(-1, {
    valid: atLeast(-1),
    doc: "How long Kafka's coordinator gathers records before it writes them. Odradek writes what one turn of its event loop brings at once, so the number has no effect.",
  }),
  'group.coordinator.cached.buffer.max.bytes': int(1048588, {
    valid: atLeast(524288),
    update: 'cluster-wide',
    doc: "The largest write buffer that Kafka's coordinator keeps for the next write. Odradek keeps none, so the number has no effect.",
  }),
  'group.coordinator.new.enable': boolean(false, {
    internal: true,
    doc: 'Whether Kafka 3.9 uses its newer group coordinator. Odradek has one coordinator; the value has no effect.',
  }),
  'group.consumer.session.timeout.ms': int(45000, {
    valid: atLeast(1),
    doc: 'After how long without a heartbeat a member of a consumer group is removed, unless the group says otherwise.',
  }),
  'group.consumer.min.session.timeout.ms': int(45000, {
    valid: atLeast(1),
    doc: 'The shortest session timeout a consumer group may set.',
  }),
  'group.consumer.max.session.timeout.ms': int(60000, {
    valid: atLeast(1),
    doc: 'The longest session timeout a consumer group may set.',
  }),
  'group.consumer.heartbeat.interval.ms': int(5000, {
    valid: atLeast(1),
    doc: 'How often members of a consumer group send heartbeats while it is at rest, unless the group says otherwise.',
  }),
  'group.consumer.min.heartbeat.interval.ms': int(5000, {
    valid: atLeast(1),
    doc: 'The shortest heartbeat interval a consumer group may set.',
  }),
  'group.consumer.max.heartbeat.interval.ms': int(15000, {
    valid: atLeast(1),
    doc: 'The longest heartbeat interval a consumer group may set.',
  }),
  'group.consumer.max.size': int(maxInt, { valid: atLeast(1), doc: 'How many members a consumer group may have.' }),
  'group.consumer.assignors': list('uniform,range', {
    valid: distinct({ mayBeEmpty: true }),
    doc: 'The assignors that consumer groups can use, the default first: uniform, range, or the names of their classes in Kafka. The broker does not start with others.',
  }),
  'group.consumer.assignment.interval.ms': int(1000, {
    valid: atLeast(0),
    doc: 'The shortest time between two new assignments of a consumer group, unless the group says otherwise.',
  }),
  'group.consumer.min.assignment.interval.ms': int(0, {
    valid: atLeast(0),
    doc: 'The smallest assignment interval a consumer group may set.',
  }),
  'group.consumer.max.assignment.interval.ms': int(15000, {
    valid: atLeast(0),
    doc: 'The largest assignment interval a consumer group may set.',
  }),
  'group.consumer.assignor.offload.enable': boolean(true, {
    internal: true,
    doc: "Whether assignments of consumer groups are computed aside from the coordinator's thread. Odradek has one event loop, so this has no effect.",
  }),
  'group.consumer.migration.policy': string('bidirectional', {
    valid: oneOfIgnoringCase('DISABLED', 'DOWNGRADE', 'UPGRADE', 'BIDIRECTIONAL'),
    doc: 'Whether a live group may change between the classic and the consumer protocol: upgrade, downgrade, bidirectional or disabled.',
  }),
  'group.consumer.regex.refresh.interval.ms': int(600000, {
    valid: atLeast(10000),
    internal: true,
    doc: "How often the topics that match a group's patterns are looked up again.",
  }),
  'offset.metadata.max.bytes': int(4096, { importance: 'HIGH', doc: 'How many bytes of text may go with a committed offset.' }),
  'offsets.commit.timeout.ms': int(5000, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How long a commit waits for its replicas.',
  }),
  'offsets.commit.required.acks': short(-1, {
    importance: 'HIGH',
    doc: 'How many replicas a commit must reach. Odradek waits for all that are in sync (-1), whatever the number.',
  }),
  'offsets.load.buffer.size': int(5242880, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many bytes are read at once when offsets are loaded.',
  }),
  'offsets.retention.minutes': int(10080, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How long offsets are kept after their group has become empty.',
  }),
  'offsets.retention.check.interval.ms': long(600000, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How often expired offsets are looked for.',
  }),
  'offsets.topic.num.partitions': int(50, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many partitions __consumer_offsets gets. It must not change once the topic exists.',
  }),
  'offsets.topic.replication.factor': short(3, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many replicas __consumer_offsets gets. When unset, as many as there are live brokers, up to the default.',
  }),
  'offsets.topic.segment.bytes': int(104857600, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'The segment size of __consumer_offsets.',
  }),
  'offsets.topic.compression.codec': int(0, {
    importance: 'HIGH',
    doc: 'The codec for what the coordinator writes: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.',
  }),
};
