// Finds records by their timestamps. The time index leads near to where a timestamp first occurs; the batches from there on tell.

import type { LogSegment } from './log-segment.ts';

export interface RecordTime {
  readonly timestamp: number;
  readonly offset: number;
}

/** The first record at or after `fromOffset` whose timestamp is at least this one. undefined: there is none. */
export function firstRecordSince(timestamp: number, segments: readonly LogSegment[], fromOffset: number): RecordTime | undefined {
  for (const segment of segments) {
    if (segment.maxTimestamp.timestamp < timestamp) continue;
    for (const batch of segment.batchesSince(timestamp, fromOffset)) {
      for (const record of batch.records()) {
        if (record.timestamp >= timestamp && record.offset >= fromOffset) return record;
      }
    }
  }
  return undefined;
}

/**
 * The first record that has the largest timestamp of all; as in Kafka also when it lies before the log start, as long as its segment
 * is there. undefined: no record has a timestamp.
 */
export function recordOfMaxTimestamp(segments: readonly LogSegment[]): RecordTime | undefined {
  let latest = -1;
  for (const segment of segments) latest = Math.max(latest, segment.maxTimestamp.timestamp);
  return latest < 0 ? undefined : firstRecordSince(latest, segments, 0);
}
