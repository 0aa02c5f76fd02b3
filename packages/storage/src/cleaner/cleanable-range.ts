// Which part of a log may be cleaned, and how much it needs it. Pure rules.
//
//   clean                | cleanable                  | not to be cleaned
//   [ segment ][ segment ][ segment ][ segment ][ segment ][ active segment
//   ^ log start           ^ firstDirtyOffset           ^ endOffset
//
// Not to be cleaned is the segment with the last stable offset, the active one, the first with a record that is younger than
// `min.compaction.lag.ms`, the first that is not on the device, and all that follow.

export interface CleanableSegment {
  readonly baseOffset: number;
  readonly sizeBytes: number;
  /** ms; of all records. */
  readonly largestTimestamp: number;
  /** ms; of the first batch; -1 where it has none. */
  readonly firstTimestamp: number;
}

export interface CleanableLog {
  readonly logStartOffset: number;
  readonly logEndOffset: number;
  readonly lastStableOffset: number;
  readonly recoveryPoint: number;
  /** What the checkpoint says is clean; undefined: nothing. */
  readonly cleanedOffset: number | undefined;
  /** Ascending; the last is the active one. */
  readonly segments: readonly CleanableSegment[];
  readonly config: {
    readonly minCompactionLagMs: number;
    readonly maxCompactionLagMs: number;
    readonly minCleanableDirtyRatio: number;
  };
}

export interface CleanableRange {
  readonly firstDirtyOffset: number;
  /** Where a segment begins. */
  readonly endOffset: number;
  /** The checkpoint names an offset that the log does not have. */
  readonly isCheckpointInvalid: boolean;
  readonly cleanableBytes: number;
  /** The part of the bytes before `endOffset` that is dirty, from 0 to 1. */
  readonly dirtyRatio: number;
  /** A record has waited longer than `max.compaction.lag.ms`. */
  readonly isOverdue: boolean;
}

export function cleanableRange(log: CleanableLog, nowMs: number): CleanableRange {
  const { segments, cleanedOffset, logStartOffset } = log;
  const isCheckpointInvalid = cleanedOffset !== undefined && (cleanedOffset < logStartOffset || cleanedOffset > log.logEndOffset);
  const firstDirtyOffset = cleanedOffset === undefined || isCheckpointInvalid ? logStartOffset : cleanedOffset;
  const firstUncleanable = segments.findIndex((segment, index) => {
    const endOffset = segments[index + 1]?.baseOffset ?? Number.MAX_SAFE_INTEGER;
    return (
      index === segments.length - 1 ||
      endOffset > Math.max(firstDirtyOffset, Math.min(log.lastStableOffset, log.recoveryPoint)) ||
      (endOffset > firstDirtyOffset && isTooYoung(segment, log.config.minCompactionLagMs, nowMs))
    );
  });
  const endOffset = segments[firstUncleanable]?.baseOffset ?? logStartOffset;
  let cleanBytes = 0;
  let cleanableBytes = 0;
  let earliestMs = Number.MAX_SAFE_INTEGER;
  for (let index = 0; index < segments.length - 1; index++) {
    const segment = segments[index]!;
    const isDirty = segments[index + 1]!.baseOffset > firstDirtyOffset;
    if (isDirty && segment.firstTimestamp > 0) earliestMs = Math.min(earliestMs, segment.firstTimestamp);
    if (segment.baseOffset >= endOffset) continue;
    if (isDirty) cleanableBytes += segment.sizeBytes;
    else cleanBytes += segment.sizeBytes;
  }
  const totalBytes = cleanBytes + cleanableBytes;
  return {
    firstDirtyOffset,
    endOffset,
    isCheckpointInvalid,
    cleanableBytes,
    dirtyRatio: totalBytes === 0 ? 0 : cleanableBytes / totalBytes,
    isOverdue: earliestMs < nowMs - Math.max(0, log.config.maxCompactionLagMs),
  };
}

/** Whether the log is worth a cleaning now. */
export function isCleaningDue({ cleanableBytes, dirtyRatio, isOverdue }: CleanableRange, minCleanableDirtyRatio: number): boolean {
  return cleanableBytes > 0 && (isOverdue || dirtyRatio > minCleanableDirtyRatio);
}

function isTooYoung(segment: CleanableSegment, minCompactionLagMs: number, nowMs: number): boolean {
  return minCompactionLagMs > 0 && segment.largestTimestamp > nowMs - minCompactionLagMs;
}
