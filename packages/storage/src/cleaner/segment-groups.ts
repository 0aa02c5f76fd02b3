// Which segments become one when they are cleaned: neighbours that fit into a segment together, so that a log whose segments shrink
// does not end as many small files. Pure.

export interface SegmentSize {
  readonly baseOffset: number;
  /** Where the next segment begins. */
  readonly endOffset: number;
  readonly sizeBytes: number;
  readonly offsetIndexBytes: number;
  readonly timeIndexBytes: number;
}

export interface GroupLimits {
  readonly segmentBytes: number;
  readonly segmentIndexBytes: number;
}

/** Relative offsets in an index are int32. */
const largestOffsetSpan = 0x7fffffff;

/** A segment is not split: one that is larger than the limits is a group by itself. */
export function groupSegments<S extends SegmentSize>(segments: readonly S[], limits: GroupLimits): S[][] {
  const groups: S[][] = [];
  let group: S[] = [];
  let sizeBytes = 0;
  let offsetIndexBytes = 0;
  let timeIndexBytes = 0;
  for (const segment of segments) {
    const [first] = group;
    const fits =
      first !== undefined &&
      sizeBytes + segment.sizeBytes <= limits.segmentBytes &&
      offsetIndexBytes + segment.offsetIndexBytes <= limits.segmentIndexBytes &&
      timeIndexBytes + segment.timeIndexBytes <= limits.segmentIndexBytes &&
      // Nothing in an empty segment needs an offset in the index.
      (segment.sizeBytes === 0 || segment.endOffset - 1 - first.baseOffset <= largestOffsetSpan);
    if (!fits) {
      group = [];
      groups.push(group);
      sizeBytes = 0;
      offsetIndexBytes = 0;
      timeIndexBytes = 0;
    }
    group.push(segment);
    sizeBytes += segment.sizeBytes;
    offsetIndexBytes += segment.offsetIndexBytes;
    timeIndexBytes += segment.timeIndexBytes;
  }
  return groups;
}
