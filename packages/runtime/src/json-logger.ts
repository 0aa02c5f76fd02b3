// The log for a machine: one JSON object a line, made by pino.

import { createRequire } from 'node:module';
import type { Logger as Pino } from 'pino';
import type { LogFields, Logger, LogLevel } from './logger.ts';

export interface JsonLoggerOptions {
  readonly level: LogLevel;
  /** Takes one line, with its line end. */
  readonly write: (line: string) => void;
}

export function createJsonLogger(options: JsonLoggerOptions): Logger {
  // Loaded here and not by an import: it takes 15 ms, which a start that logs as text need not wait for.
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino');
  return new JsonLogger(
    pino(
      {
        level: options.level,
        base: null,
        messageKey: 'message',
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: pino.stdSerializers.err },
      },
      { write: options.write },
    ),
  );
}

class JsonLogger implements Logger {
  readonly #pino: Pino;

  constructor(pino: Pino) {
    this.#pino = pino;
  }

  trace(message: string, fields?: LogFields): void {
    this.#pino.trace(fields, message);
  }

  debug(message: string, fields?: LogFields): void {
    this.#pino.debug(fields, message);
  }

  info(message: string, fields?: LogFields): void {
    this.#pino.info(fields, message);
  }

  warn(message: string, fields?: LogFields): void {
    this.#pino.warn(fields, message);
  }

  error(message: string, fields?: LogFields): void {
    this.#pino.error(fields, message);
  }

  fatal(message: string, fields?: LogFields): void {
    this.#pino.fatal(fields, message);
  }

  isEnabled(level: LogLevel): boolean {
    return this.#pino.isLevelEnabled(level);
  }

  child(part: string): Logger {
    return new JsonLogger(this.#pino.child({ part }));
  }
}
