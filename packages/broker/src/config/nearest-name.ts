// Which name was meant by one that is written wrong.

/** More mistakes than this, and it is another name. */
const mostMistakes = 2;

/** The name that is nearest, by letters that are missing, too many or wrong; undefined where none is near. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  let [nearest, fewest] = [undefined as string | undefined, mostMistakes + 1];
  for (const name of names) {
    if (Math.abs(name.length - written.length) >= fewest) continue;
    const mistakes = mistakesBetween(written, name);
    if (mistakes < fewest) [nearest, fewest] = [name, mistakes];
  }
  return nearest;
}

/** The edit distance of Levenshtein, row by row. */
function mistakesBetween(written: string, name: string): number {
  let row = Array.from({ length: name.length + 1 }, (_, index) => index);
  for (let i = 1; i <= written.length; i++) {
    const next = [i];
    for (let j = 1; j <= name.length; j++) {
      const replaced = (row[j - 1] as number) + (written[i - 1] === name[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[name.length] as number;
}
