// Streams groups: groups of Kafka Streams applications.

import { atLeast, boolean, className, distinct, int, list, long, maxInt } from '@odradek/runtime';

export const streamsGroupSettings = {
  'group.streams.session.timeout.ms': int(45000, {
    valid: atLeast(1),
    doc: 'After how long without a heartbeat a member of a streams group is removed, unless the group says otherwise.',
  }),
  'group.streams.min.session.timeout.ms': int(45000, {
    valid: atLeast(1),
    doc: 'The shortest session timeout a streams group may set.',
  }),
  'group.streams.max.session.timeout.ms': int(60000, {
    valid: atLeast(1),
    doc: 'The longest session timeout a streams group may set.',
  }),
  'group.streams.heartbeat.interval.ms': int(5000, {
    valid: atLeast(1),
    doc: 'How often members of a streams group send heartbeats, unless the group says otherwise.',
  }),
  'group.streams.min.heartbeat.interval.ms': int(5000, {
    valid: atLeast(1),
    doc: 'The shortest heartbeat interval a streams group may set.',
  }),
  'group.streams.max.heartbeat.interval.ms': int(15000, {
    valid: atLeast(1),
    doc: 'The longest heartbeat interval a streams group may set.',
  }),
  'group.streams.max.size': int(maxInt, { valid: atLeast(1), doc: 'How many members a streams group may have.' }),
  'group.streams.assignors': list('sticky', {
    valid: distinct({ mayBeEmpty: true }),
    doc: 'The assignors that streams groups can use, the default first: sticky.',
  }),
  'group.streams.assignment.interval.ms': int(1000, {
    valid: atLeast(0),
    doc: 'The shortest time between two new assignments of a streams group, unless the group says otherwise.',
  }),
  'group.streams.min.assignment.interval.ms': int(0, {
    valid: atLeast(0),
    doc: 'The smallest assignment interval a streams group may set.',
  }),
  'group.streams.max.assignment.interval.ms': int(15000, {
    valid: atLeast(0),
    doc: 'The largest assignment interval a streams group may set.',
  }),
  'group.streams.assignor.offload.enable': boolean(true, {
    internal: true,
    doc: "Whether assignments of streams groups are computed aside from the coordinator's thread. Odradek has one event loop, so this has no effect.",
  }),
  'group.streams.initial.rebalance.delay.ms': int(3000, {
    valid: atLeast(0),
    doc: 'How long an empty streams group waits for more members before its first assignment.',
  }),
  'group.streams.num.standby.replicas': int(0, {
    valid: atLeast(0),
    doc: 'How many standby copies each stateful task has, unless the group says otherwise.',
  }),
  'group.streams.max.standby.replicas': int(2, { valid: atLeast(0), doc: 'The most standby copies a streams group may set.' }),
  'group.streams.num.warmup.replicas': int(2, {
    valid: atLeast(0),
    internal: true,
    doc: 'How many tasks may be warmed up elsewhere at a time, unless the group says otherwise.',
  }),
  'group.streams.max.warmup.replicas': int(20, {
    valid: atLeast(0),
    internal: true,
    doc: 'The most warm-up copies a streams group may set.',
  }),
  'group.streams.acceptable.recovery.lag': long(10000, {
    valid: atLeast(0),
    internal: true,
    doc: 'How many records behind a copy may be and still count as caught up, unless the group says otherwise.',
  }),
  'group.streams.task.offset.interval.ms': int(60000, {
    valid: atLeast(1),
    internal: true,
    doc: 'How often members report how far their tasks are, unless the group says otherwise.',
  }),
  'group.streams.min.task.offset.interval.ms': int(15000, {
    valid: atLeast(1),
    internal: true,
    doc: 'The smallest such interval a streams group may set.',
  }),
  'group.streams.rack.aware.assignment.tags': list('', {
    importance: 'LOW',
    valid: distinct({ mayBeEmpty: true }),
    doc: 'The client tags that standby copies are spread over, unless the group says otherwise.',
  }),
  'group.streams.topology.description.plugin.class': className(null, {
    doc: 'A Java class that keeps descriptions of topologies. It has no effect in Odradek.',
  }),
};
