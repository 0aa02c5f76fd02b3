// Metrics in memory: one object per name and labels. Changing one is an addition; all the cost is in reading them out.

import type { Counter, Histogram, MetricSeries, MetricsRegistry } from './metrics.ts';

type Labels = Readonly<Record<string, string>>;
type Entry = { readonly name: string; readonly labels: Labels } & (
  | { readonly kind: 'counter'; readonly counter: Counter }
  | { readonly kind: 'gauge'; read: () => number }
  | { readonly kind: 'histogram'; readonly histogram: Histogram }
);

export class MetricsTable implements MetricsRegistry {
  readonly #entries = new Map<string, Entry>();
  readonly #collectors = new Set<() => Iterable<MetricSeries>>();

  counter(name: string, labels: Labels = {}): Counter {
    const entry = this.#entry(name, labels, () => ({ kind: 'counter', name, labels, counter: { value: 0 } }));
    if (entry.kind !== 'counter') {
      throw otherKind(entry);
    }
    return entry.counter;
  }

  histogram(name: string, labels: Labels = {}): Histogram {
    const entry = this.#entry(name, labels, () => ({ kind: 'histogram', name, labels, histogram: new BucketHistogram() }));
    if (entry.kind !== 'histogram') {
      throw otherKind(entry);
    }
    return entry.histogram;
  }

  gauge(name: string, read: () => number, labels: Labels = {}): void {
    const entry = this.#entry(name, labels, () => ({ kind: 'gauge', name, labels, read }));
    if (entry.kind !== 'gauge') {
      throw otherKind(entry);
    }
    entry.read = read;
  }

  collect(read: () => Iterable<MetricSeries>): () => void {
    this.#collectors.add(read);
    return () => this.#collectors.delete(read);
  }

  remove(labels: Labels): void {
    for (const [key, entry] of this.#entries) {
      if (Object.entries(labels).every(([name, value]) => entry.labels[name] === value)) {
        this.#entries.delete(key);
      }
    }
  }

  *series(): Iterable<MetricSeries> {
    for (const entry of this.#entries.values()) {
      const { name, labels } = entry;
      switch (entry.kind) {
        case 'counter':
          yield { kind: 'counter', name, labels, value: entry.counter.value };
          break;
        case 'gauge':
          yield { kind: 'gauge', name, labels, value: entry.read() };
          break;
        case 'histogram':
          yield { kind: 'histogram', name, labels, histogram: entry.histogram };
          break;
      }
    }
    for (const read of this.#collectors) {
      yield* read();
    }
  }

  #entry(name: string, labels: Labels, create: () => Entry): Entry {
    const key = JSON.stringify([name, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = create();
      this.#entries.set(key, entry);
    }
    return entry;
  }
}

function otherKind(entry: Entry): Error {
  return new Error(`The metric ${entry.name} is a ${entry.kind}`);
}

// Buckets grow by the fourth root of 2, some 19 %, which is as exact as anyone reads a quantile:
//
//   bucket   0       1            4         28      …  160
//   bound    2^-7    2^-6.75      2^-6      2^0        2^33     and one more for what is larger
//
// so the same bounds serve microseconds written in ms, requests in flight, and bytes.
const bucketsPerDoubling = 4;
const lowestExponent = -7;
const highestExponent = 33;
const bounds = Float64Array.from(
  { length: (highestExponent - lowestExponent) * bucketsPerDoubling + 1 },
  (_, index) => 2 ** (lowestExponent + index / bucketsPerDoubling),
);

class BucketHistogram implements Histogram {
  readonly #counts = new Float64Array(bounds.length + 1);
  #count = 0;
  #sum = 0;

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  observe(value: number): void {
    const index = Math.ceil((Math.log2(value) - lowestExponent) * bucketsPerDoubling);
    // The logarithm of nothing, or of less, is no index: such a value is in the first bucket.
    this.#counts[index >= 0 ? Math.min(index, bounds.length) : 0]! += 1;
    this.#count++;
    this.#sum += value;
  }

  quantile(quantile: number): number {
    if (this.#count === 0) {
      return Number.NaN;
    }
    const wanted = Math.max(1, Math.ceil(quantile * this.#count));
    let seen = 0;
    for (let index = 0; index < bounds.length; index++) {
      seen += this.#counts[index]!;
      if (seen >= wanted) {
        return bounds[index]!;
      }
    }
    return Number.POSITIVE_INFINITY;
  }
}
