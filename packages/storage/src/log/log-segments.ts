// The segments of one log, by base offset. The last is the active one, which alone is appended to.

import type { LogSegment } from './log-segment.ts';

export class LogSegments {
  /** Ascending. */
  #segments: LogSegment[] = [];

  get count(): number {
    return this.#segments.length;
  }

  get first(): LogSegment {
    return this.#segments[0] ?? missing();
  }

  get active(): LogSegment {
    return this.#segments.at(-1) ?? missing();
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0;
  }

  all(): readonly LogSegment[] {
    return this.#segments;
  }

  add(segment: LogSegment): void {
    if (!this.isEmpty && segment.baseOffset <= this.active.baseOffset) {
      throw new Error(`Segment ${segment.baseOffset} cannot follow segment ${this.active.baseOffset}`);
    }
    this.#segments.push(segment);
  }

  /** Where the segment with the greatest base offset at or below the offset stands; -1: none has. */
  floorIndex(offset: number): number {
    let low = 0;
    let high = this.#segments.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if (this.#segments[middle]!.baseOffset <= offset) low = middle + 1;
      else high = middle - 1;
    }
    return high;
  }

  at(index: number): LogSegment | undefined {
    return this.#segments[index];
  }

  /** Takes out the segments for which this holds and answers them. */
  remove(isRemoved: (segment: LogSegment) => boolean): LogSegment[] {
    const removed = this.#segments.filter(isRemoved);
    if (removed.length > 0) this.#segments = this.#segments.filter((segment) => !removed.includes(segment));
    return removed;
  }

  /** Takes out segments from the front as long as this holds, but never the active one. A segment ends where the next begins. */
  removeWhile(isRemoved: (segment: LogSegment, endOffset: number) => boolean): LogSegment[] {
    const all = this.#segments;
    let count = 0;
    while (count < all.length - 1 && isRemoved(all[count]!, all[count + 1]!.baseOffset)) count += 1;
    this.#segments = all.slice(count);
    return all.slice(0, count);
  }

  /** Puts one segment in the place of neighbours, which must be here; it begins where the first of them does. */
  replace(neighbours: readonly LogSegment[], segment: LogSegment): void {
    const at = this.#segments.indexOf(neighbours[0]!);
    this.#segments = this.#segments.toSpliced(at, neighbours.length, segment);
  }

  get sizeBytes(): number {
    let size = 0;
    for (const segment of this.#segments) size += segment.sizeBytes;
    return size;
  }
}

function missing(): never {
  throw new Error('A log has at least one segment');
}
