// Metrics: plain objects that cost a few nanoseconds to change. Reading them out (Prometheus) happens elsewhere.

export interface Counter {
  /** Only grows. */
  value: number;
}

export interface Histogram {
  /** Adds one observation, in the unit that the name ends with. */
  observe(value: number): void;
  readonly count: number;
  readonly sum: number;
  /** The smallest bucket bound with at least `quantile` (0 to 1) of the observations at or below it; NaN without any. */
  quantile(quantile: number): number;
}

export interface MetricsRegistry {
  /** The counter of that name and labels; the same object each time. Keep it, do not look it up on a hot path. */
  counter(name: string, labels?: Readonly<Record<string, string>>): Counter;
  histogram(name: string, labels?: Readonly<Record<string, string>>): Histogram;
  /** `read` is called when the metrics are read out. Replaces a gauge of the same name and labels. */
  gauge(name: string, read: () => number, labels?: Readonly<Record<string, string>>): void;
  /** `read` is called when the metrics are read out, and gives series that come and go. Returns how to forget it. */
  collect(read: () => Iterable<MetricSeries>): () => void;
  /** Forgets all series with these labels (a topic was deleted). */
  remove(labels: Readonly<Record<string, string>>): void;
  /** All series, for exposition. */
  series(): Iterable<MetricSeries>;
}

export type MetricSeries =
  | { readonly kind: 'counter'; readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number }
  | { readonly kind: 'gauge'; readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number }
  | {
      readonly kind: 'histogram';
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly histogram: Histogram;
    };
