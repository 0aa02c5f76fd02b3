// Which directory a new log goes to. A pure rule; log-manager.ts acts on it.

export interface CandidateDirectory {
  readonly path: string;
  readonly isOnline: boolean;
}

/**
 * The directories that can take a new log, the one with the fewest logs first, and among equals the one that is configured first.
 * Cordoned ones are left out; when all are cordoned the first takes it, because the partition has been given to this broker.
 */
export function directoriesForNewLog<D extends CandidateDirectory>(
  directories: readonly D[],
  logCounts: ReadonlyMap<D, number>,
  isCordoned: (path: string) => boolean,
): D[] {
  const online = directories.filter(({ isOnline }) => isOnline);
  const open = online.filter(({ path }) => !isCordoned(path));
  if (open.length === 0) return online.slice(0, 1);
  return open.sort((a, b) => (logCounts.get(a) ?? 0) - (logCounts.get(b) ?? 0));
}
