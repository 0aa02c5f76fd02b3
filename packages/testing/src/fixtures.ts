// Facts that Apache Kafka itself wrote, which many tests compare with. They lie beside the repository, not in it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The directory of the golden facts: ODRADEK_GOLDEN, or ../shared/golden beside the repository. undefined when it is absent: the
 * test then skips aloud. With CI=true its absence is an error, so that no green run has tested nothing.
 */
export function goldenDirectory(): string | undefined {
  const directory = process.env['ODRADEK_GOLDEN'] ?? join(import.meta.dirname, '../../../../shared/golden');
  if (existsSync(directory)) return directory;
  if (process.env['CI'] === 'true') throw new Error(`The golden facts are not at ${directory}`);
  return undefined;
}
