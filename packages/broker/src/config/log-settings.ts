// Partition logs: where they are, when they roll, flush and expire. Most are defaults that a topic can override.

import { atLeast, between, boolean, distinct, double, int, list, long, maxLong, oneOf, string } from '@odradek/runtime';
import { gzipLevel, protocolVersion } from './checks.ts';

export const logSettings = {
  'log.dir': list('/tmp/kafka-logs', {
    importance: 'HIGH',
    valid: distinct({ mayBeEmpty: false }),
    doc: 'The directory of the logs, or several with commas between them, for when log.dirs is unset.',
  }),
  'log.dirs': list(null, {
    importance: 'HIGH',
    valid: distinct({ mayBeEmpty: false }),
    doc: 'The directories that hold the logs, with commas between them; usually one per disk. A new partition goes to the directory with the fewest.',
  }),
  'cordoned.log.dirs': list('', {
    valid: distinct({ mayBeEmpty: true }),
    update: 'cluster-wide',
    doc: 'Log directories that get no new partitions, with commas between them; * means all of them.',
  }),
  'log.segment.bytes': int(1073741824, {
    importance: 'HIGH',
    valid: atLeast(1048576),
    update: 'cluster-wide',
    doc: 'The size at which a segment is closed and the next one begins.',
  }),
  'log.roll.ms': long(null, {
    importance: 'HIGH',
    update: 'cluster-wide',
    doc: 'The age, in milliseconds, at which a segment is closed even when it is small. When unset, log.roll.hours counts.',
  }),
  'log.roll.hours': int(168, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'The age, in hours, at which a segment is closed even when it is small.',
  }),
  'log.roll.jitter.ms': long(null, {
    importance: 'HIGH',
    update: 'cluster-wide',
    doc: 'A random amount, up to this many milliseconds, taken off that age so that not all logs roll at once. When unset, log.roll.jitter.hours counts.',
  }),
  'log.roll.jitter.hours': int(0, {
    importance: 'HIGH',
    valid: atLeast(0),
    doc: 'A random amount, up to this many hours, taken off that age so that not all logs roll at once.',
  }),
  'log.retention.ms': long(null, {
    importance: 'HIGH',
    update: 'cluster-wide',
    doc: 'How long records are kept, in milliseconds; -1 keeps them. When unset, log.retention.minutes counts.',
  }),
  'log.retention.minutes': int(null, {
    importance: 'HIGH',
    doc: 'How long records are kept, in minutes. When unset, log.retention.hours counts.',
  }),
  'log.retention.hours': int(168, { importance: 'HIGH', doc: 'How long records are kept, in hours.' }),
  'log.retention.bytes': long(-1, {
    importance: 'HIGH',
    update: 'cluster-wide',
    doc: 'The size that a partition may reach before its oldest segments are deleted; -1 sets no limit.',
  }),
  'log.retention.check.interval.ms': long(300000, {
    valid: atLeast(1),
    doc: 'How often the broker looks for segments that may be deleted.',
  }),
  'log.initial.task.delay.ms': long(30000, {
    importance: 'LOW',
    valid: atLeast(0),
    internal: true,
    doc: 'How long after the start the periodic work on logs begins.',
  }),
  'log.cleanup.policy': list('delete', {
    valid: oneOf('compact', 'delete'),
    update: 'cluster-wide',
    doc: 'What happens to old segments: delete drops them by age and size, compact keeps the latest record of each key; both together do both.',
  }),
  'log.cleaner.enable': boolean(true, { doc: 'Whether logs with the policy compact are compacted at all.' }),
  'log.cleaner.threads': int(1, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How many logs are compacted at a time, each in a thread of its own; 0 switches compaction off.',
  }),
  'log.cleaner.backoff.ms': long(15000, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How long the cleaner rests when no log needs cleaning.',
  }),
  'log.cleaner.dedupe.buffer.size': long(134217728, {
    update: 'cluster-wide',
    doc: 'How many bytes the cleaner may use to remember keys, in all.',
  }),
  'log.cleaner.io.buffer.load.factor': double(0.9, {
    update: 'cluster-wide',
    doc: "How full the cleaner's table of keys may become, between 0 and 1. Fuller means more keys at once and more collisions.",
  }),
  'log.cleaner.io.buffer.size': int(524288, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How many bytes the cleaner uses for reading and writing.',
  }),
  'log.cleaner.io.max.bytes.per.second': double(Number.MAX_VALUE, {
    update: 'cluster-wide',
    doc: 'The most bytes a second that the cleaner reads and writes together.',
  }),
  'log.cleaner.min.cleanable.ratio': double(0.5, {
    valid: between(0, 1),
    update: 'cluster-wide',
    doc: 'How large the part of a log that has not been compacted must be, between 0 and 1, before it is compacted again.',
  }),
  'log.cleaner.min.compaction.lag.ms': long(0, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How long a record stays uncompacted at least.',
  }),
  'log.cleaner.max.compaction.lag.ms': long(maxLong, {
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How long a record may stay uncompacted at most.',
  }),
  'log.cleaner.delete.retention.ms': long(86400000, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How long tombstones, and the markers of transactions, stay in a compacted log, so that readers can see them.',
  }),
  'log.index.size.max.bytes': int(10485760, {
    valid: atLeast(4),
    update: 'cluster-wide',
    doc: 'The most bytes an offset index may have; when it is full, the segment is closed.',
  }),
  'log.index.interval.bytes': int(4096, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How many bytes of records are written between two entries of the index.',
  }),
  'log.flush.interval.messages': long(maxLong, {
    importance: 'HIGH',
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many records a partition takes before it is forced to disk.',
  }),
  'log.flush.interval.ms': long(null, {
    importance: 'HIGH',
    update: 'cluster-wide',
    doc: 'How long a record may wait before it is forced to disk. When unset, log.flush.scheduler.interval.ms counts.',
  }),
  'log.flush.scheduler.interval.ms': long(maxLong, {
    importance: 'HIGH',
    doc: 'How often the broker looks for logs that must be forced to disk.',
  }),
  'log.flush.offset.checkpoint.interval.ms': int(60000, {
    importance: 'HIGH',
    valid: atLeast(0),
    doc: 'How often the offset up to which each log is safely on disk is recorded. Recovery after a crash begins there.',
  }),
  'log.flush.start.offset.checkpoint.interval.ms': int(60000, {
    importance: 'HIGH',
    valid: atLeast(0),
    doc: 'How often the first offset of each log is recorded, so that deleted records do not come back.',
  }),
  'log.segment.delete.delay.ms': long(60000, {
    importance: 'HIGH',
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How long a deleted file stays under another name before it is removed from the disk.',
  }),
  'log.preallocate': boolean(false, {
    update: 'cluster-wide',
    doc: 'Whether the file of a new segment gets its full size with its first records, zeros behind them, and is cut to what was written when the segment ends or the broker stops. On file systems that keep holes it takes no more room.',
  }),
  'log.message.timestamp.type': string('CreateTime', {
    valid: oneOf('CreateTime', 'LogAppendTime'),
    update: 'cluster-wide',
    doc: "Which time a record carries: CreateTime, the producer's, or LogAppendTime, that of the broker.",
  }),
  'log.message.timestamp.before.max.ms': long(maxLong, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: "How much older than the broker's clock the timestamp of a record may be before the record is refused. Not used with LogAppendTime.",
  }),
  'log.message.timestamp.after.max.ms': long(3600000, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: "How far ahead of the broker's clock the timestamp of a record may be before the record is refused. Not used with LogAppendTime.",
  }),
  'log.message.timestamp.difference.max.ms': long(maxLong, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: "How far the timestamp of a record may be from the broker's clock, either way. The two settings that replaced it count where they are set.",
  }),
  'log.message.format.version': string('3.0-IV1', {
    valid: protocolVersion,
    update: 'cluster-wide',
    doc: 'The release whose record format the log uses. Odradek writes the current format; old batches are stored as they arrive. The value has no effect.',
  }),
  'log.message.downconversion.enable': boolean(true, {
    importance: 'LOW',
    update: 'cluster-wide',
    doc: 'Whether records are converted to an older format for clients that know no other. When false such fetches are refused.',
  }),
  'num.recovery.threads.per.data.dir': int(2, {
    importance: 'HIGH',
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'How many logs of a directory are looked through at the same time when the broker starts after a crash. While one waits for the disk another has its turn; Odradek has one thread for all of them. Logs that have not been written to since the last orderly stop need no looking through.',
  }),
  'log.dir.failure.timeout.ms': long(30000, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: "How long Kafka's broker may fail to tell its controller of a broken directory before it stops. In Odradek the news goes through the coordination store, so this has no effect.",
  }),
  'compression.type': string('producer', {
    importance: 'HIGH',
    valid: oneOf('uncompressed', 'zstd', 'lz4', 'snappy', 'gzip', 'producer'),
    update: 'cluster-wide',
    doc: "How the broker stores record batches: producer keeps the compression they come with, uncompressed removes it, a codec's name recompresses them.",
  }),
  'compression.gzip.level': int(-1, {
    valid: gzipLevel,
    update: 'cluster-wide',
    doc: "The level for gzip where the broker compresses; -1 is the library's own default.",
  }),
  'compression.lz4.level': int(9, {
    valid: between(1, 17),
    update: 'cluster-wide',
    doc: 'The level for lz4 where the broker compresses. Higher levels than the fast one may be rounded down.',
  }),
  'compression.zstd.level': int(3, {
    valid: between(-131072, 22),
    update: 'cluster-wide',
    doc: 'The level for zstd where the broker compresses.',
  }),
  'producer.id.expiration.ms': int(86400000, {
    importance: 'LOW',
    valid: atLeast(1),
    update: 'cluster-wide',
    doc: 'After how many milliseconds without a record a partition forgets an idempotent producer.',
  }),
  'producer.id.expiration.check.interval.ms': int(600000, {
    importance: 'LOW',
    valid: atLeast(1),
    internal: true,
    doc: 'How often partitions look for producers to forget.',
  }),
};
