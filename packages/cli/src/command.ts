// The command line in full: help, version, and what is said of mistakes. Loaded only when it is needed.

import { Command, InvalidArgumentError } from 'commander';
import type { VerifyArguments } from './commands/storage-verify.ts';
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
    .option('--override <key=value>', 'a setting that takes precedence over the file; may be repeated', collect)
    .addHelpText('after', environmentHelp)
    .action(async (file: string | undefined, options: { readonly override?: readonly string[] }) => {
      const { start } = await import('./commands/start.ts');
      await start({ file, overrides: options.override ?? [] });
    });
  program
    .command('cluster')
    .description('start several brokers that form a cluster, for development')
    .argument('[file]', 'a properties file for all of them; numbers, ports and directories count on from what it says')
    .option('--brokers <count>', 'how many', brokerCount, 3)
    .option('--zookeeper <servers>', 'host:port,…[/chroot]: a process for each broker, over this ensemble')
    .option('--override <key=value>', 'a setting that takes precedence over the file; may be repeated', collect)
    .addHelpText('after', clusterHelp)
    .action(async (file: string | undefined, options: ClusterOptions) => {
      const { cluster } = await import('./commands/cluster.ts');
      const { override = [], brokers, zookeeper } = options;
      await cluster({ file, overrides: override, brokers, zookeeper });
    });
  program
    .command('dump-log')
    .description('print what stands in the files of a log, as kafka-dump-log does')
    .argument('[arguments...]', 'those of kafka-dump-log; without any they are explained')
    .helpOption(false)
    .passThroughOptions()
    .allowUnknownOption()
    .action(async (args: readonly string[]) => {
      const { dumpLog } = await import('./commands/dump-log.ts');
      endWithReader();
      process.exitCode = await dumpLog(args, process);
    });
  const storage = program.command('storage').description('look after the directories in which a broker keeps its data');
  storage
    .command('verify')
    .description('report everything that is not as it must be in the log directories of a broker that has stopped, or in a copy')
    .argument('[file]', 'a properties file that names them; without it, and without --data-dir, ./data')
    .option('--data-dir <directory>', 'a log directory; may be repeated', collect)
    .option('--topic <topic>', 'only the logs of this topic; may be repeated', collect)
    .option('--compacted <topic>', 'a topic in whose logs there may be gaps, though no cleaner says so; may be repeated', collect)
    .option('--json', 'a line of JSON for each finding, and one at the end')
    .addHelpText('after', verifyHelp)
    .action(async (file: string | undefined, options: VerifyArguments) => {
      const { verifyStorage } = await import('./commands/storage-verify.ts');
      endWithReader();
      await verifyStorage(file, options);
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

The broker stops cleanly on SIGINT (Ctrl-C) and SIGTERM, and when its terminal is closed; another signal, more than
a second later, ends it at once.`;

const clusterHelp = `
Without a file broker 0 listens on 127.0.0.1:9092 and keeps its data in ./data/0, broker 1 on 127.0.0.1:9093 in ./data/1, and so on. Topics
that do not say otherwise, and the brokers' own, have as many replicas as there are brokers, up to three.

Without --zookeeper all brokers run in one process, and what they share lies in ./data/coordination. With it each can be stopped, killed
and started alone: \`odradek start\` with the same settings brings one back.

Environment and signals: as for \`odradek start\`.`;

const verifyHelp = `
Each finding is a line: FILE:POSITION: RULE: what is there. "(mended)" stands behind what the next start repairs, or cuts off as what
a crash left unfinished. Nothing is changed. The exit code is 1 when anything was found, or when a broker is using a directory.`;

interface ClusterOptions {
  readonly brokers: number;
  readonly zookeeper?: string;
  readonly override?: readonly string[];
}

/** More than this one machine is no place for. */
const maxBrokers = 100;

function brokerCount(value: string): number {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1 || count > maxBrokers) {
    throw new InvalidArgumentError(`It must be a number from 1 to ${maxBrokers}.`);
  }
  return count;
}

/** Who has read enough closes the pipe: `… | head`. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
