// What was measured on both brokers, and the table with the ratios of the medians.

interface Row {
  readonly unit: string;
  readonly target: string;
  /** By contender. */
  readonly samples: Map<string, number[]>;
}

export class RatioTable {
  readonly #rows = new Map<string, Row>();

  /** Says the value at once, so that a long run can be followed. */
  record({ name }: { readonly name: string }, what: string, unit: string, target: string, value: number): void {
    const row = this.#rows.get(what) ?? { unit, target, samples: new Map<string, number[]>() };
    this.#rows.set(what, row);
    row.samples.set(name, [...(row.samples.get(name) ?? []), value]);
    console.error(`${name}: ${what}: ${value.toPrecision(4)} ${unit}`);
  }

  /** The second beside the first; the ratio is the second's to it. */
  print(first = 'Kafka', second = 'Odradek'): void {
    console.log(`| what | ${first} | ${second} | ratio | wanted |\n|---|---|---|---|---|`);
    for (const [what, { unit, target, samples }] of this.#rows) {
      const [one, other] = [first, second].map((name) => median(samples.get(name) ?? [])) as [number, number];
      const show = (value: number): string => (Number.isNaN(value) ? '-' : `${Number(value.toPrecision(3))} ${unit}`);
      console.log(`| ${what} | ${show(one)} | ${show(other)} | ${(other / one).toFixed(2)} | ${target} |`);
    }
  }
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
