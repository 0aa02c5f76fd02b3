// Tiered storage. Odradek keeps all of its data on local disks: the settings are known, checked and listed, and have no effect.

import { atLeast, between, boolean, double, int, long, maxLong, nonEmptyString, string } from '@odradek/runtime';

export const remoteLogSettings = {
  'remote.log.storage.system.enable': boolean(false, {
    doc: 'Whether old segments move to a remote store. Odradek has no tiered storage; it refuses to start when this is true.',
  }),
  'remote.log.storage.manager.class.name': string(null, {
    valid: nonEmptyString,
    doc: 'The Java class that reaches the remote store. It has no effect in Odradek.',
  }),
  'remote.log.storage.manager.class.path': string(null, { doc: 'Where that class is found. It has no effect in Odradek.' }),
  'remote.log.storage.manager.impl.prefix': string('rsm.config.', {
    valid: nonEmptyString,
    doc: 'The prefix of settings handed to that class.',
  }),
  'remote.log.metadata.manager.class.name': string(
    'org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager',
    { valid: nonEmptyString, doc: 'The Java class that keeps track of remote segments. It has no effect in Odradek.' },
  ),
  'remote.log.metadata.manager.class.path': string(null, { doc: 'Where that class is found. It has no effect in Odradek.' }),
  'remote.log.metadata.manager.impl.prefix': string('rlmm.config.', {
    valid: nonEmptyString,
    doc: 'The prefix of settings handed to that class.',
  }),
  'remote.log.metadata.manager.listener.name': string(null, {
    valid: nonEmptyString,
    doc: 'The listener that class uses to reach its own broker. It has no effect in Odradek.',
  }),
  'remote.log.metadata.custom.metadata.max.bytes': int(128, {
    importance: 'LOW',
    valid: atLeast(0),
    doc: "How many bytes of its own the remote store may add to each segment's description. It has no effect in Odradek.",
  }),
  'remote.log.index.file.cache.total.size.bytes': long(1073741824, {
    importance: 'LOW',
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How much disk space cached remote indexes may take. It has no effect in Odradek.',
  }),
  'remote.log.index.file.cache.ttl.ms': long(900000, {
    importance: 'LOW',
    valid: atLeast(-1),
    internal: true,
    doc: 'How long an unused remote index stays cached. It has no effect in Odradek.',
  }),
  'remote.log.manager.thread.pool.size': int(2, {
    valid: atLeast(1),
    doc: 'How many threads schedule remote work. It has no effect in Odradek.',
  }),
  'remote.log.manager.copier.thread.pool.size': int(10, {
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many threads copy segments out. It has no effect in Odradek.',
  }),
  'remote.log.manager.expiration.thread.pool.size': int(10, {
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many threads delete remote segments. It has no effect in Odradek.',
  }),
  'remote.log.manager.follower.thread.pool.size': int(2, {
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: "How many threads serve followers' remote needs. It has no effect in Odradek.",
  }),
  'remote.log.manager.task.interval.ms': long(30000, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How often remote work runs. It has no effect in Odradek.',
  }),
  'remote.log.manager.task.retry.backoff.ms': long(500, {
    importance: 'LOW',
    valid: atLeast(1),
    internal: true,
    doc: 'How long remote work waits before it is tried again at first. It has no effect in Odradek.',
  }),
  'remote.log.manager.task.retry.backoff.max.ms': long(30000, {
    importance: 'LOW',
    valid: atLeast(1),
    internal: true,
    doc: 'The longest such wait. It has no effect in Odradek.',
  }),
  'remote.log.manager.task.retry.jitter': double(0.2, {
    importance: 'LOW',
    valid: between(0, 0.5),
    internal: true,
    doc: 'How much those waits vary by chance. It has no effect in Odradek.',
  }),
  'remote.log.manager.copy.max.bytes.per.second': long(maxLong, {
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many bytes a second are copied out at most. It has no effect in Odradek.',
  }),
  'remote.log.manager.copy.quota.window.num': int(11, {
    valid: atLeast(1),
    doc: 'How many samples that rate is measured over. It has no effect in Odradek.',
  }),
  'remote.log.manager.copy.quota.window.size.seconds': int(1, {
    valid: atLeast(1),
    doc: 'The length of one such sample. It has no effect in Odradek.',
  }),
  'remote.log.manager.fetch.max.bytes.per.second': long(maxLong, {
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many bytes a second are fetched from the remote store at most. It has no effect in Odradek.',
  }),
  'remote.log.manager.fetch.quota.window.num': int(11, {
    valid: atLeast(1),
    doc: 'How many samples that rate is measured over. It has no effect in Odradek.',
  }),
  'remote.log.manager.fetch.quota.window.size.seconds': int(1, {
    valid: atLeast(1),
    doc: 'The length of one such sample. It has no effect in Odradek.',
  }),
  'remote.log.reader.threads': int(10, {
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many threads read from the remote store. It has no effect in Odradek.',
  }),
  'remote.log.reader.max.pending.tasks': int(100, {
    valid: atLeast(1),
    doc: 'How many such reads may wait. It has no effect in Odradek.',
  }),
  'remote.fetch.max.wait.ms': int(500, {
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How long a fetch waits for the remote store. It has no effect in Odradek.',
  }),
  'remote.list.offsets.request.timeout.ms': long(30000, {
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How long a request for offsets waits for the remote store. It has no effect in Odradek.',
  }),
  'log.local.retention.ms': long(-2, {
    valid: atLeast(-2),
    update: 'cluster-wide',
    doc: 'How long segments stay on the local disk when tiered storage holds them as well; -2 takes log.retention.ms. It has no effect in Odradek.',
  }),
  'log.local.retention.bytes': long(-2, {
    valid: atLeast(-2),
    update: 'cluster-wide',
    doc: 'How many bytes stay on the local disk when tiered storage holds them as well; -2 takes log.retention.bytes. It has no effect in Odradek.',
  }),
  'log.remote.copy.lag.ms': long(0, {
    valid: atLeast(-1),
    update: 'cluster-wide',
    doc: 'How long a closed segment waits before it is copied out. It has no effect in Odradek.',
  }),
  'log.remote.copy.lag.bytes': long(-1, {
    valid: atLeast(-1),
    update: 'cluster-wide',
    doc: 'How many bytes behind the end a segment waits before it is copied out. It has no effect in Odradek.',
  }),
  'follower.fetch.last.tiered.offset.enable': boolean(false, {
    update: 'cluster-wide',
    doc: 'Whether a new follower begins after what is in tiered storage. It has no effect in Odradek.',
  }),
};
