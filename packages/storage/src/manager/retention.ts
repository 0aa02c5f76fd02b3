// Which segments are too old or too many. Pure rules; log-manager.ts acts on them.

import type { LogConfig } from '../log/log-config.ts';

export interface SegmentAge {
  readonly sizeBytes: number;
  /** ms; the largest timestamp in it, or when it was last changed where no record has a timestamp. */
  readonly largestTimestamp: number;
}

/** How many segments at the front have been kept long enough. The active segment, the last, counts like the others. */
export function expiredSegments(segments: readonly SegmentAge[], config: LogConfig, nowMs: number): number {
  if (config.retentionMs < 0) return 0;
  const kept = segments.findIndex(({ largestTimestamp }) => nowMs - largestTimestamp <= config.retentionMs);
  return kept < 0 ? segments.length : kept;
}

/** Whether a record of the segment lies in the future: then the segment stays until that is old enough, and all behind it. */
export function isFromTheFuture(segment: SegmentAge | undefined, config: LogConfig, nowMs: number): boolean {
  return config.retentionMs >= 0 && segment !== undefined && segment.largestTimestamp > nowMs;
}

/** How many segments at the front are more than `retention.bytes` allows. */
export function surplusSegments(segments: readonly SegmentAge[], config: LogConfig): number {
  if (config.retentionBytes < 0) return 0;
  let surplus = segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) - config.retentionBytes;
  let count = 0;
  for (const { sizeBytes } of segments) {
    if (surplus - sizeBytes < 0) break;
    surplus -= sizeBytes;
    count += 1;
  }
  return count;
}
