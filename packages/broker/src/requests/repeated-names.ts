// What a request names more than once, where each thing may be named once.

export function repeatedNames(items: readonly { readonly name: string }[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of items) {
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
  }
  return repeated;
}
