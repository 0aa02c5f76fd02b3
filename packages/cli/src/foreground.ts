// What the commands that run until they are told to stop have in common: their settings, the signals, the last words.

import { readFileSync } from 'node:fs';
import { builtInProperties } from '@odradek/broker';
import { ConfigError, type Properties, parseOverride, parseProperties } from '@odradek/runtime';
import type { StartArguments } from './start-arguments.ts';

/** How long a clean stop may take before the process ends anyway. Kafka's own scripts give up after half a minute. */
const stopTimeoutMs = 30_000;

/** The file's settings, else the built-in ones, and over them the overrides. Throws ConfigError. */
export function readProperties({ file, overrides }: StartArguments): Properties {
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

export function logOptions(env: NodeJS.ProcessEnv): { readonly format?: string; readonly level?: string } {
  const { ODRADEK_LOG_FORMAT: format, ODRADEK_LOG_LEVEL: level } = env;
  return { ...(format === undefined ? {} : { format }), ...(level === undefined ? {} : { level }) };
}

/** The first signal to stop. A process that was started by another, with a channel to it, does not outlive that one. */
export function heardSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve(signal));
    if (process.channel !== undefined) process.once('disconnect', () => resolve('disconnect'));
  });
}

/** Ends the process when all has been stopped, after a while anyway, and at once on another signal. `what` is the subject of a sentence. */
export async function stopAndExit(what: string, exitCode: number, stop: () => Promise<unknown>): Promise<never> {
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGTERM', () => process.exit(143));
  setTimeout(() => {
    process.stderr.write(`odradek: ${what} has not stopped within ${stopTimeoutMs / 1000} s\n`);
    process.exit(1);
  }, stopTimeoutMs).unref();
  await stop();
  process.exit(exitCode);
}

/** One line that says what is wrong; the stack only where the fault is ours. */
export function describe(error: unknown): string {
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
