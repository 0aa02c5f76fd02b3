// Something of each partition, by topic (its name or its id) and index. No key is put together for a look.

export class PartitionMap<T> {
  readonly #topics = new Map<string, Map<number, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(topic: string, index: number): T | undefined {
    return this.#topics.get(topic)?.get(index);
  }

  set(topic: string, index: number, value: T): void {
    let partitions = this.#topics.get(topic);
    if (partitions === undefined) {
      partitions = new Map();
      this.#topics.set(topic, partitions);
    }
    this.#size -= partitions.size;
    partitions.set(index, value);
    this.#size += partitions.size;
  }

  delete(topic: string, index: number): void {
    const partitions = this.#topics.get(topic);
    if (partitions === undefined || !partitions.delete(index)) return;
    this.#size -= 1;
    if (partitions.size === 0) this.#topics.delete(topic);
  }

  *values(): Generator<T, void, undefined> {
    for (const partitions of this.#topics.values()) yield* partitions.values();
  }
}
