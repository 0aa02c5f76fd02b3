// `odradek start`: a broker in the foreground, until SIGINT or SIGTERM.

import { readFileSync } from 'node:fs';
import { type Broker, builtInProperties, startBroker } from '@odradek/broker';
import { ConfigError, type Properties, parseOverride, parseProperties } from '@odradek/runtime';
import { trimMemoryWhenQuiet } from '../memory-trimmer.ts';
import type { StartArguments } from '../start-arguments.ts';
import { version } from '../version.ts';

/** How long a clean stop may take before the process ends anyway. Kafka's own scripts give up after half a minute. */
const stopTimeoutMs = 30_000;

/** Returns when the broker is up; the process then lives until it is told to stop. */
export async function start(options: StartArguments): Promise<void> {
  // Heard from the first moment, so that a signal during the start is not lost.
  const stopSignal = heardSignal();
  let broker: Broker;
  try {
    broker = await startBroker({
      properties: readProperties(options),
      version: version(),
      startedMs: 0,
      log: logOptions(process.env),
    });
  } catch (error) {
    process.stderr.write(`odradek: ${describe(error)}\n`);
    process.exit(1);
  }
  trimMemoryWhenQuiet();
  const reason = await Promise.race([stopSignal, broker.failed]);
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGTERM', () => process.exit(143));
  setTimeout(() => {
    process.stderr.write(`odradek: the broker has not stopped within ${stopTimeoutMs / 1000} s\n`);
    process.exit(1);
  }, stopTimeoutMs).unref();
  await broker.close();
  process.exit(typeof reason === 'string' ? 0 : 1);
}

function readProperties({ file, overrides }: StartArguments): Properties {
  const properties = new Map(file === undefined ? builtInProperties : parseProperties(readFile(file)));
  for (const override of overrides) {
    const [name, value] = parseOverride(override);
    properties.set(name, value);
  }
  return properties;
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function logOptions(env: NodeJS.ProcessEnv): { readonly format?: string; readonly level?: string } {
  const { ODRADEK_LOG_FORMAT: format, ODRADEK_LOG_LEVEL: level } = env;
  return { ...(format === undefined ? {} : { format }), ...(level === undefined ? {} : { level }) };
}

function heardSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve(signal));
  });
}

/** One line that says what is wrong; the stack only where the fault is ours. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError) return error.message;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return code === undefined && isOurFault(error) ? (error.stack ?? error.message) : error.message;
}

/** Errors that only a mistake in the program makes. */
function isOurFault(error: Error): boolean {
  const { name } = error;
  return name === 'AssertionError' || error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}
