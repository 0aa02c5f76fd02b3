// Lists and sets of broker ids, one for all partitions that have the same: a broker knows thousands of partitions, of which most are alike.

/** More than that are not shared: there are as many as the brokers' ids can be ordered, and they come from outside. */
const maxShared = 1000;

const none: readonly number[] = [];
const noneAsSet: ReadonlySet<number> = new Set();

interface Shared {
  readonly list: readonly number[];
  readonly set: ReadonlySet<number>;
}

const shared = new Map<string, Shared>();

/** The ids in this order. Must not be changed. */
export function sharedList(ids: readonly number[]): readonly number[] {
  return ids.length === 0 ? none : sharedOf(ids).list;
}

/** The ids as a set that iterates in this order. Must not be changed. */
export function sharedSet(ids: readonly number[]): ReadonlySet<number> {
  return ids.length === 0 ? noneAsSet : sharedOf(ids).set;
}

function sharedOf(ids: readonly number[]): Shared {
  const key = ids.join(',');
  let found = shared.get(key);
  if (found === undefined) {
    found = { list: [...ids], set: new Set(ids) };
    if (shared.size < maxShared) shared.set(key, found);
  }
  return found;
}
