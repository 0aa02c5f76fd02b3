// A hierarchical timing wheel: many deadlines, each added and cancelled in constant time. It knows no clock; whoever owns it
// calls `advance`.
//
// Level 0 has 32 buckets of 1 ms, level 1 has 32 buckets of 32 ms, level 2 of 1,024 ms, and so on: each bucket of a level is
// as wide as the whole level below it. Think of the time as a number written in base 32, one digit per level:
//
//      level   3       2        1       0
//    now       0       0       14      29         =     477 ms
//    deadline  0       0       14      31         level 0, bucket 31: the lowest digit is the first that differs
//    deadline  0       1        3       7         level 2, bucket 1: a higher digit differs, the lower ones do not matter yet
//                      ^
//                      the highest digit in which the deadline differs from now says level and bucket
//
// When the time enters a bucket of level 1 or higher, its entries are spread over the levels below; those of a bucket of level 0
// are due. Three things follow. A bucket that holds entries is always ahead of now, so nothing ever wraps around. Whatever is
// on a level comes before whatever is on the levels above, so the next bucket is the first one of the lowest level that has any.
// And entries with the same deadline are always in the same bucket, so they come out in the order they were added.

const bucketsPerLevel = 32;
const levels = 10;
/** 32^10 ms, some 35,000 years. Later deadlines are taken as this one. */
const lastDeadlineMs = bucketsPerLevel ** levels - 1;

export class TimingWheel {
  /** Width of a bucket on each level. */
  readonly #widthMs = Array.from({ length: levels }, (_, level) => bucketsPerLevel ** level);
  readonly #buckets = Array.from({ length: levels * bucketsPerLevel }, () => new Bucket());
  /** For each level, bit n is set while bucket n has entries. */
  readonly #occupied = new Int32Array(levels);
  #nowMs: number;
  #size = 0;

  /** @param nowMs the time the wheel starts at, at least 0 */
  constructor(nowMs: number) {
    this.#nowMs = Math.floor(nowMs);
  }

  /** The time of the last `advance`, in whole milliseconds. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** How many entries wait. */
  get size(): number {
    return this.#size;
  }

  /** When `advance` has something to do next; at most as late as the earliest deadline. undefined while the wheel is empty. */
  get nextMs(): number | undefined {
    for (let level = 0; level < levels; level++) {
      const bits = this.#occupied[level]!;
      if (bits !== 0) {
        return this.#startOfBucket(level, lowestBit(bits));
      }
    }
    return undefined;
  }

  /** Adds an action to run once `advance` reaches the deadline, or 1 ms after now when that has passed already. */
  add(deadlineMs: number, action: () => void): WheelEntry {
    const earliestMs = this.#nowMs + 1;
    const entry = new WheelEntry(deadlineMs <= earliestMs ? earliestMs : Math.min(Math.ceil(deadlineMs), lastDeadlineMs), action);
    this.#place(entry);
    this.#size++;
    return entry;
  }

  /** Forgets an entry; does nothing after it ran or was cancelled. */
  cancel(entry: WheelEntry): void {
    if (this.#unlink(entry)) {
      this.#size--;
    }
  }

  /** Forgets all entries. */
  clear(): void {
    for (const bucket of this.#buckets) {
      for (let entry = bucket.first; entry !== undefined; entry = bucket.first) {
        this.#unlink(entry);
      }
    }
    this.#size = 0;
  }

  /** Moves the time on and runs what has become due, in the order of the deadlines. */
  advance(nowMs: number): void {
    const targetMs = Math.floor(nowMs);
    for (let nextMs = this.nextMs; nextMs !== undefined && nextMs <= targetMs; nextMs = this.nextMs) {
      this.#enter(nextMs);
    }
    this.#nowMs = Math.max(this.#nowMs, targetMs);
  }

  /** Makes `timeMs`, where the next bucket begins, the time: on level 0 the bucket is run, above it is spread over lower levels. */
  #enter(timeMs: number): void {
    const level = this.#levelOf(timeMs);
    const bucket = this.#buckets[level * bucketsPerLevel + this.#digit(timeMs, level)]!;
    this.#nowMs = timeMs;
    // Each entry leaves the wheel before its action runs: the action may cancel others, add some, or throw.
    for (let entry = bucket.first; entry !== undefined; entry = bucket.first) {
      this.#unlink(entry);
      if (entry.deadlineMs > timeMs) {
        this.#place(entry);
      } else {
        this.#size--;
        entry.action();
      }
    }
  }

  #place(entry: WheelEntry): void {
    const level = this.#levelOf(entry.deadlineMs);
    const digit = this.#digit(entry.deadlineMs, level);
    entry.level = level;
    entry.bit = 1 << digit;
    entry.bucket = this.#buckets[level * bucketsPerLevel + digit]!;
    entry.bucket.append(entry);
    this.#occupied[level]! |= entry.bit;
  }

  #unlink(entry: WheelEntry): boolean {
    const { bucket } = entry;
    if (bucket === undefined) {
      return false;
    }
    bucket.remove(entry);
    entry.bucket = undefined;
    if (bucket.first === undefined) {
      this.#occupied[entry.level]! &= ~entry.bit;
    }
    return true;
  }

  /** The level of the highest digit in which a time differs from now. */
  #levelOf(timeMs: number): number {
    let level = 0;
    while (
      level < levels - 1 &&
      Math.floor(timeMs / this.#widthMs[level + 1]!) !== Math.floor(this.#nowMs / this.#widthMs[level + 1]!)
    ) {
      level++;
    }
    return level;
  }

  #digit(timeMs: number, level: number): number {
    return Math.floor(timeMs / this.#widthMs[level]!) % bucketsPerLevel;
  }

  #startOfBucket(level: number, digit: number): number {
    const widthMs = this.#widthMs[level]!;
    const levelWidthMs = widthMs * bucketsPerLevel;
    return Math.floor(this.#nowMs / levelWidthMs) * levelWidthMs + digit * widthMs;
  }
}

/** An action with its deadline, and its place in the wheel: a link of the bucket's chain. */
export class WheelEntry {
  readonly deadlineMs: number;
  readonly action: () => void;
  level = 0;
  bit = 0;
  /** undefined when the entry is no longer in the wheel. */
  bucket: Bucket | undefined = undefined;
  previous: WheelEntry | undefined = undefined;
  next: WheelEntry | undefined = undefined;

  constructor(deadlineMs: number, action: () => void) {
    this.deadlineMs = deadlineMs;
    this.action = action;
  }
}

/** A chain of entries, oldest first. */
class Bucket {
  first: WheelEntry | undefined = undefined;
  #last: WheelEntry | undefined = undefined;

  append(entry: WheelEntry): void {
    entry.previous = this.#last;
    entry.next = undefined;
    if (this.#last === undefined) {
      this.first = entry;
    } else {
      this.#last.next = entry;
    }
    this.#last = entry;
  }

  remove(entry: WheelEntry): void {
    if (entry.previous === undefined) {
      this.first = entry.next;
    } else {
      entry.previous.next = entry.next;
    }
    if (entry.next === undefined) {
      this.#last = entry.previous;
    } else {
      entry.next.previous = entry.previous;
    }
  }
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
