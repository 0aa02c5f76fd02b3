// `npm run bench -- NAME [argument…]` runs one of the programs of this folder; without a name it says which there are.

import { readdirSync } from 'node:fs';
import { basename } from 'node:path';

const [name, ...rest] = process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => /^[a-z-]+\.ts$/.test(file) && file !== basename(import.meta.filename))
  .map((file) => file.slice(0, -'.ts'.length));

if (name === undefined || !names.includes(name)) {
  console.log(`Usage: npm run bench -- NAME\nNames: ${names.join(', ')}`);
  process.exit(name === undefined ? 0 : 1);
}
process.argv = [...process.argv.slice(0, 2), ...rest];
await import(`./${name}.ts`);
