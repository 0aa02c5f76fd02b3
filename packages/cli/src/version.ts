// The version of this package, read from the package.json beside the sources or the emitted JavaScript.

import { readFileSync } from 'node:fs';

export function version(): string {
  const content: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  if (typeof content === 'object' && content !== null && 'version' in content) return String(content.version);
  throw new Error('The package.json of odradek has no version');
}
