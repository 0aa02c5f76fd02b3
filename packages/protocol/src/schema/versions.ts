// Version ranges as Kafka writes them: "3+", "0-12", "5", "none".

export interface VersionRange {
  readonly min: number;
  /** Inclusive; the largest int16 for an open range such as "3+". Below `min` when the range is empty. */
  readonly max: number;
}

/** Versions travel as int16, so no range reaches beyond this. */
const highestVersion = 32767;

export const noVersions: VersionRange = { min: 0, max: -1 };

/** Few different ranges occur, each of them many times. */
const parsed = new Map<string, VersionRange>([['none', noVersions]]);

export function parseVersions(text: string): VersionRange {
  let range = parsed.get(text);
  if (range === undefined) {
    range = parse(text);
    parsed.set(text, range);
  }
  return range;
}

function parse(text: string): VersionRange {
  const match = /^(\d+)(?:(\+)|-(\d+))?$/.exec(text);
  if (match === null) throw new Error(`Not a range of versions: "${text}"`);
  const min = Number(match[1]);
  if (match[2] !== undefined) return { min, max: highestVersion };
  return { min, max: match[3] === undefined ? min : Number(match[3]) };
}

export function versionsContain(range: VersionRange, version: number): boolean {
  return range.min <= version && version <= range.max;
}

export function intersectVersions(a: VersionRange, b: VersionRange): VersionRange {
  const min = Math.max(a.min, b.min);
  const max = Math.min(a.max, b.max);
  return min <= max ? { min, max } : noVersions;
}
