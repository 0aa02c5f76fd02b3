// The command line in full: help, version, and what is said of mistakes. Loaded only when it is needed.

import { Command } from 'commander';
import { version } from './version.ts';

/** Runs the command that the arguments name; ends the process with 1 when they cannot be understood. */
export async function runCommand(argv: readonly string[]): Promise<void> {
  const program = new Command('odradek')
    .description('Odradek is Apache Kafka, implemented in TypeScript.')
    .version(`odradek ${version()} (node ${process.versions.node})`, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .showHelpAfterError('(odradek --help tells what can be said)')
    .enablePositionalOptions();
  program
    .command('start')
    .description('start a broker, with the settings of a server.properties file')
    .argument('[file]', 'the properties file; without one the broker listens on 127.0.0.1:9092 and keeps its data in ./data')
    .option('--override <key=value>', 'a setting that takes precedence over the file; may be repeated', collect, [])
    .addHelpText('after', environmentHelp)
    .action(async (file: string | undefined, options: { readonly override: readonly string[] }) => {
      const { start } = await import('./commands/start.ts');
      await start({ file, overrides: options.override });
    });
  if (argv.length <= 2) {
    program.outputHelp({ error: true });
    process.exitCode = 1;
    return;
  }
  await program.parseAsync([...argv]);
}

const environmentHelp = `
Environment:
  ODRADEK_LOG_FORMAT  text or json, instead of odradek.log.format
  ODRADEK_LOG_LEVEL   trace, debug, info, warn, error or fatal, instead of odradek.log.level

The broker stops cleanly on SIGINT and SIGTERM; a second signal ends it at once.`;

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
