// What the commands that run until they are told to stop have in common: their settings, the signals, the last words.

import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';
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
    // `npm start` keeps options for itself that do not stand behind `--`, and leaves their values.
    const hint = file.includes('=') ? ` (a setting is given with --override ${file}, after \`npm start --\`)` : '';
    throw new ConfigError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}${hint}`);
  }
}

export function logOptions(env: NodeJS.ProcessEnv): { readonly format?: string; readonly level?: string } {
  const { ODRADEK_LOG_FORMAT: format, ODRADEK_LOG_LEVEL: level } = env;
  // An empty variable is one that is not set.
  return { ...(format ? { format } : {}), ...(level ? { level } : {}) };
}

/** Another signal to stop so soon after the first is the same wish: at Ctrl-C `npm start` gets one from the terminal and one from npm. */
const sameWishMs = 1000;

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * The first signal to stop; a later one ends the process at once. A process that was started by another, with a channel to it, does not
 * outlive that one. Whose terminal is closed stops, too (SIGHUP); without a terminal it goes on, as under `nohup`: Node does not take over
 * from who started it that SIGHUP is ignored.
 */
export function heardSignal(): Promise<string> {
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    for (const [signal, exitCode] of Object.entries(exitCodes)) {
      process.on(signal, () => {
        if (signal === 'SIGHUP' && !hasTerminal) return;
        firstMs ??= performance.now();
        if (performance.now() - firstMs > sameWishMs) process.exit(exitCode);
        resolve(signal);
      });
    }
    if (process.channel !== undefined) process.once('disconnect', () => resolve('disconnect'));
  });
}

/** Ends the process when all has been stopped, after a while anyway. `what` is the subject of a sentence. */
export async function stopAndExit(what: string, exitCode: number, stop: () => Promise<unknown>): Promise<never> {
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
