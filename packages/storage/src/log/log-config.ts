// What storage needs to know of a topic's configuration, in camel case and plain numbers. Sizes are bytes, times ms; a limit that
// means "none" is Number.MAX_SAFE_INTEGER, or -1 where Kafka says so.

import type { CompressionType } from '@odradek/protocol';

export interface LogConfig {
  readonly segmentBytes: number;
  readonly segmentMs: number;
  readonly segmentJitterMs: number;
  readonly segmentIndexBytes: number;
  readonly indexIntervalBytes: number;
  /** The largest batch that is accepted, as it is on the wire. */
  readonly maxMessageBytes: number;
  /** The most that the records of one batch may decompress to. */
  readonly maxDecompressedMessageBytes: number;
  readonly flushMessages: number;
  readonly flushMs: number;
  /** -1: no limit. */
  readonly retentionBytes: number;
  /** -1: no limit. */
  readonly retentionMs: number;
  readonly cleanupPolicy: readonly ('delete' | 'compact')[];
  /** `producer`: as the batches come. */
  readonly compressionType: CompressionType | 'producer';
  readonly compressionLevels: { readonly gzip: number; readonly lz4: number; readonly zstd: number };
  readonly messageTimestampType: 'CreateTime' | 'LogAppendTime';
  readonly messageTimestampBeforeMaxMs: number;
  readonly messageTimestampAfterMaxMs: number;
  readonly fileDeleteDelayMs: number;
  readonly preallocate: boolean;
  readonly deleteRetentionMs: number;
  readonly minCompactionLagMs: number;
  readonly maxCompactionLagMs: number;
  readonly minCleanableDirtyRatio: number;
  readonly minInSyncReplicas: number;
  readonly uncleanLeaderElection: boolean;
  readonly producerIdExpirationMs: number;
}

/** Kafka's defaults. */
export const defaultLogConfig: LogConfig = {
  segmentBytes: 1024 * 1024 * 1024,
  segmentMs: 7 * 24 * 3600 * 1000,
  segmentJitterMs: 0,
  segmentIndexBytes: 10 * 1024 * 1024,
  indexIntervalBytes: 4096,
  maxMessageBytes: 1024 * 1024 + 12,
  maxDecompressedMessageBytes: Number.MAX_SAFE_INTEGER,
  flushMessages: Number.MAX_SAFE_INTEGER,
  flushMs: Number.MAX_SAFE_INTEGER,
  retentionBytes: -1,
  retentionMs: 7 * 24 * 3600 * 1000,
  cleanupPolicy: ['delete'],
  compressionType: 'producer',
  compressionLevels: { gzip: -1, lz4: 9, zstd: 3 },
  messageTimestampType: 'CreateTime',
  messageTimestampBeforeMaxMs: Number.MAX_SAFE_INTEGER,
  messageTimestampAfterMaxMs: 3600 * 1000,
  fileDeleteDelayMs: 60 * 1000,
  preallocate: false,
  deleteRetentionMs: 24 * 3600 * 1000,
  minCompactionLagMs: 0,
  maxCompactionLagMs: Number.MAX_SAFE_INTEGER,
  minCleanableDirtyRatio: 0.5,
  minInSyncReplicas: 1,
  uncleanLeaderElection: false,
  producerIdExpirationMs: 24 * 3600 * 1000,
};

/** After how long a segment ends: no record may wait for its compaction in an active segment for longer than it may at all. */
export function longestSegmentMs({ segmentMs, maxCompactionLagMs, cleanupPolicy }: LogConfig): number {
  const isBound = cleanupPolicy.includes('compact') && maxCompactionLagMs > 0;
  return isBound ? Math.min(segmentMs, maxCompactionLagMs) : segmentMs;
}

export function isCompacted(config: LogConfig): boolean {
  return config.cleanupPolicy.includes('compact');
}
