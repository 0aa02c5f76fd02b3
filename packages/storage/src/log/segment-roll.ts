// When a segment has had enough, and the next begins: by its size, by its age, or because its indexes are full.

import type { Clock, Random } from '@odradek/runtime';
import { type LogConfig, longestSegmentMs } from './log-config.ts';
import type { LogSegment } from './log-segment.ts';

export class SegmentRoll {
  readonly #clock: Clock;
  readonly #random: Random;
  /** How much earlier this segment ends than its age asks for, so that those of many partitions do not all end at the same moment. */
  #jitterMs = 0;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  drawJitter({ segmentJitterMs }: LogConfig): void {
    this.#jitterMs = segmentJitterMs <= 0 ? 0 : this.#random.nextInt(Math.min(segmentJitterMs, 0x7fffffff));
  }

  /** Whether the segment, which is not empty, should end before a batch of that size and time. */
  isDue(segment: LogSegment, sizeBytes: number, maxTimestamp: number, config: LogConfig): boolean {
    const longestMs = longestSegmentMs(config);
    return (
      segment.sizeBytes > config.segmentBytes - sizeBytes ||
      // A jitter that is longer than the segments would end each of them at once.
      this.#ageMs(segment, maxTimestamp) > longestMs - (this.#jitterMs % longestMs) ||
      segment.areIndexesFull
    );
  }

  /** By the timestamps of records, where the first has one, so that a replica rolls where its leader did. */
  #ageMs(segment: LogSegment, maxTimestamp: number): number {
    const { firstTimestamp } = segment;
    return firstTimestamp >= 0 ? maxTimestamp - firstTimestamp : this.#clock.wallTimeMs() - segment.createdMs;
  }
}
