#!/usr/bin/env node
// The `odradek` command. How fast a broker starts is part of what it is, so this file loads nothing before it knows what is wanted:
// `odradek start` goes straight to the broker, everything else through the full command line of command.ts.

import { parseStartArguments } from './start-arguments.ts';

const [command, ...rest] = process.argv.slice(2);
const startArguments = command === 'start' ? parseStartArguments(rest) : undefined;
if (startArguments === undefined) {
  const { runCommand } = await import('./command.ts');
  await runCommand(process.argv);
} else {
  const { start } = await import('./commands/start.ts');
  await start(startArguments);
}
