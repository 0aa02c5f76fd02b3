// What can be set for a topic. Where it is not, the broker setting in topicSynonyms counts.

import { atLeast, between, boolean, double, int, list, long, maxLong, oneOf, string } from '@odradek/runtime';
import { gzipLevel, protocolVersion, throttledReplicas } from './checks.ts';

export const topicSettings = {
  'cleanup.policy': list('delete', {
    valid: oneOf('compact', 'delete'),
    doc: 'What happens to old segments: delete drops them by age and size, compact keeps the latest record of each key. Both together do both; neither keeps everything.',
  }),
  'compression.type': string('producer', {
    valid: oneOf('uncompressed', 'zstd', 'lz4', 'snappy', 'gzip', 'producer'),
    doc: "How the broker stores batches: producer keeps the compression they come with, uncompressed removes it, a codec's name recompresses them.",
  }),
  'compression.gzip.level': int(-1, {
    valid: gzipLevel,
    doc: "The level for gzip where the broker compresses; -1 is the library's own default.",
  }),
  'compression.lz4.level': int(9, {
    valid: between(1, 17),
    doc: 'The level for lz4 where the broker compresses. Higher levels than the fast one may be rounded down.',
  }),
  'compression.zstd.level': int(3, { valid: between(-131072, 22), doc: 'The level for zstd where the broker compresses.' }),
  'delete.retention.ms': long(86400000, {
    valid: atLeast(0),
    doc: 'How long tombstones, and the markers of transactions, stay in a compacted log, so that readers can see them.',
  }),
  'errors.deadletterqueue.group.enable': boolean(false, { doc: 'Whether share groups may use this topic for their dead letters.' }),
  'file.delete.delay.ms': long(60000, {
    valid: atLeast(0),
    doc: 'How long a deleted file stays under another name before it is removed from the disk.',
  }),
  'flush.messages': long(maxLong, {
    valid: atLeast(1),
    doc: 'How many records a partition takes before it is forced to disk. Replication is the usual way to durability; 1 forces each batch.',
  }),
  'flush.ms': long(maxLong, { valid: atLeast(0), doc: 'How long a record may wait before it is forced to disk.' }),
  'follower.replication.throttled.replicas': list('', {
    valid: throttledReplicas,
    doc: 'The replicas whose following is slowed down: * or partition:broker with commas between them.',
  }),
  'leader.replication.throttled.replicas': list('', {
    valid: throttledReplicas,
    doc: 'The replicas whose serving of followers is slowed down: * or partition:broker with commas between them.',
  }),
  'index.interval.bytes': int(4096, {
    valid: atLeast(0),
    doc: 'How many bytes of records are written between two entries of the index. Fewer find a record faster and take more space.',
  }),
  'internal.segment.bytes': int(null, { internal: true, doc: 'A segment size below what segment.bytes allows, for tests.' }),
  'local.retention.bytes': long(-2, {
    valid: atLeast(-2),
    doc: 'How many bytes stay on the local disk when tiered storage holds them as well; -2 takes retention.bytes. It has no effect in Odradek.',
  }),
  'local.retention.ms': long(-2, {
    valid: atLeast(-2),
    doc: 'How long segments stay on the local disk when tiered storage holds them as well; -2 takes retention.ms. It has no effect in Odradek.',
  }),
  'max.compaction.lag.ms': long(maxLong, { valid: atLeast(1), doc: 'How long a record may stay uncompacted at most.' }),
  'max.decompressed.message.bytes': int(2147483639, {
    valid: between(1, 2147483639),
    doc: 'The largest size a compressed batch may reach when it is decompressed.',
  }),
  'max.message.bytes': int(1048588, { valid: atLeast(0), doc: 'The largest record batch accepted, in bytes after compression.' }),
  'message.downconversion.enable': boolean(true, {
    importance: 'LOW',
    internal: true,
    doc: 'Whether records are converted to an older format for clients that know no other. When false such fetches are refused.',
  }),
  'message.format.version': string('3.0-IV1', {
    valid: protocolVersion,
    internal: true,
    doc: 'The release whose record format the log uses. Odradek writes the current format; the value has no effect.',
  }),
  'message.timestamp.difference.max.ms': long(maxLong, {
    valid: atLeast(0),
    internal: true,
    doc: "How far the timestamp of a record may be from the broker's clock, either way. The two settings that replaced it count where they are set.",
  }),
  'message.timestamp.after.max.ms': long(3600000, {
    valid: atLeast(0),
    doc: "How far ahead of the broker's clock the timestamp of a record may be before the record is refused. Not used with LogAppendTime.",
  }),
  'message.timestamp.before.max.ms': long(maxLong, {
    valid: atLeast(0),
    doc: "How much older than the broker's clock the timestamp of a record may be before the record is refused. Not used with LogAppendTime.",
  }),
  'message.timestamp.type': string('CreateTime', {
    valid: oneOf('CreateTime', 'LogAppendTime'),
    doc: "Which time a record carries: CreateTime, the producer's, or LogAppendTime, that of the broker.",
  }),
  'min.cleanable.dirty.ratio': double(0.5, {
    valid: between(0, 1),
    doc: 'How large the part of a log that has not been compacted must be, between 0 and 1, before it is compacted again.',
  }),
  'min.compaction.lag.ms': long(0, { valid: atLeast(0), doc: 'How long a record stays uncompacted at least.' }),
  'min.insync.replicas': int(1, {
    valid: atLeast(1),
    doc: 'How many replicas must have a record before a producer with acks=all gets its answer; with fewer in sync, the write is refused.',
  }),
  preallocate: boolean(false, {
    doc: 'Whether the file of a new segment gets its full size with its first records, zeros behind them, and is cut to what was written when the segment ends or the broker stops. On file systems that keep holes it takes no more room.',
  }),
  'remote.copy.lag.bytes': long(-1, {
    valid: atLeast(-1),
    doc: 'How many bytes behind the end a segment waits before it is copied out. It has no effect in Odradek.',
  }),
  'remote.copy.lag.ms': long(0, {
    valid: atLeast(-1),
    doc: 'How long a closed segment waits before it is copied out. It has no effect in Odradek.',
  }),
  'remote.log.copy.disable': boolean(false, {
    doc: 'Whether a topic with tiered storage copies nothing more out. It has no effect in Odradek.',
  }),
  'remote.log.delete.on.disable': boolean(false, {
    doc: 'Whether remote data goes when tiered storage is switched off for the topic. It has no effect in Odradek.',
  }),
  'remote.storage.enable': boolean(false, {
    doc: 'Whether old segments move to a remote store. Odradek has no tiered storage, and true is refused.',
  }),
  'retention.bytes': long(-1, {
    doc: 'The size that a partition may reach before its oldest segments are deleted; -1 sets no limit.',
  }),
  'retention.ms': long(604800000, { valid: atLeast(-1), doc: 'How long records are kept, in milliseconds; -1 keeps them.' }),
  'segment.bytes': int(1073741824, {
    valid: atLeast(1048576),
    doc: 'The size at which a segment is closed and the next one begins.',
  }),
  'segment.index.bytes': int(10485760, {
    valid: atLeast(4),
    doc: 'The most bytes an offset index may have; when it is full, the segment is closed.',
  }),
  'segment.jitter.ms': long(0, {
    valid: atLeast(0),
    doc: 'A random amount, up to this many milliseconds, taken off segment.ms so that not all logs roll at once.',
  }),
  'segment.ms': long(604800000, { valid: atLeast(1), doc: 'The age at which a segment is closed even when it is small.' }),
  'unclean.leader.election.enable': boolean(false, {
    doc: 'Whether a replica that is not in sync may become leader when no other is left. It keeps the partition available and loses records.',
  }),
};
