// Share groups, and the coordinator that keeps their state.

import { atLeast, between, boolean, distinct, int, list, short, string } from '@odradek/runtime';

export const shareGroupSettings = {
  'group.share.enable': boolean(false, {
    internal: true,
    doc: 'Whether Kafka 3.9 offers its early share groups. The value has no effect in Odradek.',
  }),
  'group.share.max.groups': short(10, {
    valid: between(1, 100),
    doc: 'How many share groups Kafka 3.9 allows. The number has no effect in Odradek.',
  }),
  'group.share.session.timeout.ms': int(45000, {
    valid: atLeast(1),
    doc: 'After how long without a heartbeat a member of a share group is removed, unless the group says otherwise.',
  }),
  'group.share.min.session.timeout.ms': int(45000, {
    valid: atLeast(1),
    doc: 'The shortest session timeout a share group may set.',
  }),
  'group.share.max.session.timeout.ms': int(60000, {
    valid: atLeast(1),
    doc: 'The longest session timeout a share group may set.',
  }),
  'group.share.heartbeat.interval.ms': int(5000, {
    valid: atLeast(1),
    doc: 'How often members of a share group send heartbeats, unless the group says otherwise.',
  }),
  'group.share.min.heartbeat.interval.ms': int(5000, {
    valid: atLeast(1),
    doc: 'The shortest heartbeat interval a share group may set.',
  }),
  'group.share.max.heartbeat.interval.ms': int(15000, {
    valid: atLeast(1),
    doc: 'The longest heartbeat interval a share group may set.',
  }),
  'group.share.max.size': int(200, { valid: between(1, 1000), doc: 'How many members a share group may have.' }),
  'group.share.assignors': list('simple', {
    valid: distinct({ mayBeEmpty: true }),
    doc: 'The assignors that share groups can use: simple.',
  }),
  'group.share.assignment.interval.ms': int(1000, {
    valid: atLeast(0),
    doc: 'The shortest time between two new assignments of a share group, unless the group says otherwise.',
  }),
  'group.share.min.assignment.interval.ms': int(0, {
    valid: atLeast(0),
    doc: 'The smallest assignment interval a share group may set.',
  }),
  'group.share.max.assignment.interval.ms': int(15000, {
    valid: atLeast(0),
    doc: 'The largest assignment interval a share group may set.',
  }),
  'group.share.assignor.offload.enable': boolean(true, {
    internal: true,
    doc: "Whether assignments of share groups are computed aside from the coordinator's thread. Odradek has one event loop, so this has no effect.",
  }),
  'group.share.delivery.count.limit': int(5, {
    valid: between(2, 10),
    doc: 'How often a record is handed out before it counts as undeliverable, unless the group says otherwise.',
  }),
  'group.share.min.delivery.count.limit': int(2, {
    valid: between(2, 5),
    doc: 'The smallest delivery limit a share group may set.',
  }),
  'group.share.max.delivery.count.limit': int(10, {
    valid: between(5, 25),
    doc: 'The largest delivery limit a share group may set.',
  }),
  'group.share.record.lock.duration.ms': int(30000, {
    valid: between(1000, 3600000),
    doc: 'How long a consumer holds a record before it is handed to another, unless the group says otherwise.',
  }),
  'group.share.min.record.lock.duration.ms': int(15000, {
    valid: between(1000, 30000),
    doc: 'The shortest lock a share group may set.',
  }),
  'group.share.max.record.lock.duration.ms': int(60000, {
    valid: between(30000, 3600000),
    doc: 'The longest lock a share group may set.',
  }),
  'group.share.partition.max.record.locks': int(2000, {
    valid: between(100, 10000),
    doc: 'How many records of one partition may be held at a time, unless the group says otherwise.',
  }),
  'group.share.min.partition.max.record.locks': int(100, {
    valid: between(100, 2000),
    doc: 'The smallest such limit a share group may set.',
  }),
  'group.share.max.partition.max.record.locks': int(4000, {
    valid: between(2000, 10000),
    doc: 'The largest such limit a share group may set.',
  }),
  'group.share.max.share.sessions': int(2000, { valid: atLeast(1), doc: 'How many share sessions the broker remembers.' }),
  'group.share.initialize.retry.interval.ms': int(30000, {
    importance: 'LOW',
    valid: atLeast(1),
    internal: true,
    doc: 'How long the coordinator waits before it tries again to set up the state of a partition.',
  }),
  'group.share.persister.class.name': string('org.apache.kafka.server.share.persister.DefaultStatePersister', {
    internal: true,
    doc: 'The Java class that stores the state of share groups. Odradek stores it in __share_group_state; the name has no effect.',
  }),
  'group.share.dlq.manager.class.name': string('org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager', {
    internal: true,
    doc: 'The Java class that writes dead letters. The name has no effect in Odradek.',
  }),
  'errors.deadletterqueue.auto.create.topics.enable': boolean(false, {
    doc: "Whether the topic for a share group's dead letters is created when it does not exist.",
  }),
  'errors.deadletterqueue.topic.name.prefix': string('dlq.', { doc: 'How the name of a topic for dead letters must begin.' }),
  'share.coordinator.threads': int(1, {
    valid: atLeast(1),
    doc: "How many threads Kafka's share coordinator uses. The number has no effect in Odradek.",
  }),
  'share.coordinator.append.linger.ms': int(-1, {
    valid: atLeast(-1),
    doc: 'How long the share coordinator gathers records before it writes them; -1 lets it decide by itself.',
  }),
  'share.coordinator.cached.buffer.max.bytes': int(1048588, {
    valid: atLeast(524288),
    update: 'cluster-wide',
    doc: 'The largest write buffer the share coordinator keeps for the next write.',
  }),
  'share.coordinator.write.timeout.ms': int(5000, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How long a write of the share coordinator waits for its replicas.',
  }),
  'share.coordinator.load.buffer.size': int(5242880, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many bytes are read at once when the state of share groups is loaded.',
  }),
  'share.coordinator.snapshot.update.records.per.snapshot': int(500, {
    valid: between(0, 500),
    doc: "How many changes are written between two snapshots of a share partition's state.",
  }),
  'share.coordinator.cold.partition.snapshot.interval.ms': int(300000, {
    importance: 'LOW',
    valid: atLeast(1),
    internal: true,
    doc: 'After how long a share partition that has not changed is written as a snapshot again.',
  }),
  'share.coordinator.state.topic.num.partitions': int(50, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many partitions __share_group_state gets. It must not change once the topic exists.',
  }),
  'share.coordinator.state.topic.replication.factor': short(3, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many replicas __share_group_state gets. When unset, as many as there are live brokers, up to the default.',
  }),
  'share.coordinator.state.topic.min.isr': short(2, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'The min.insync.replicas of __share_group_state. When unset, never more than its replicas.',
  }),
  'share.coordinator.state.topic.segment.bytes': int(104857600, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'The segment size of __share_group_state.',
  }),
  'share.coordinator.state.topic.compression.codec': int(0, {
    importance: 'HIGH',
    doc: 'The codec for what the share coordinator writes: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.',
  }),
  'share.coordinator.state.topic.prune.interval.ms': int(300000, {
    importance: 'LOW',
    valid: atLeast(1),
    internal: true,
    doc: 'How often records of __share_group_state that are no longer needed are removed.',
  }),
};
