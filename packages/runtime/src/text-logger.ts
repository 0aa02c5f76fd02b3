// The log for a person: one line each, the fields behind the message, an error's stack below it. An error of the operating system has none:
// what failed, and on which file, stands in its message, and that its cause is in our code is the least likely.
//
//   2026-11-29 14:05:01.123 INFO  [storage] Recovered the unclean tail  topic=orders partition=0 tookMs=12
//
// Written here rather than with pino-pretty, which with pino takes 30 ms to load and to write its first line: a tenth of what a whole start
// may take (docs/decisions/0006-logging.md).

import { inspect, styleText } from 'node:util';
import { type LogFields, type Logger, type LogLevel, logLevels } from './logger.ts';

export interface TextLoggerOptions {
  readonly level: LogLevel;
  /** Takes one line with its line end, or several when there is a stack. */
  readonly write: (text: string) => void;
  readonly wallTimeMs: () => number;
  readonly useColour: boolean;
}

export class TextLogger implements Logger {
  readonly #options: TextLoggerOptions;
  readonly #threshold: number;
  readonly #part: string;

  constructor(options: TextLoggerOptions, part = '') {
    this.#options = options;
    this.#threshold = logLevels.indexOf(options.level);
    this.#part = part === '' ? '' : `[${part}] `;
  }

  trace(message: string, fields?: LogFields): void {
    this.#log('trace', message, fields);
  }

  debug(message: string, fields?: LogFields): void {
    this.#log('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log('error', message, fields);
  }

  fatal(message: string, fields?: LogFields): void {
    this.#log('fatal', message, fields);
  }

  isEnabled(level: LogLevel): boolean {
    return logLevels.indexOf(level) >= this.#threshold;
  }

  child(part: string): Logger {
    return new TextLogger(this.#options, part);
  }

  #log(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (!this.isEnabled(level)) {
      return;
    }
    const { write, wallTimeMs, useColour } = this.#options;
    const paint = useColour ? paintOf[level] : (text: string) => text;
    const time = localTime(wallTimeMs());
    let text = `${useColour ? styleText('dim', time) : time} ${paint(level.toUpperCase().padEnd(5))} ${this.#part}${printable(message)}`;
    let separator = '  ';
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined || hasStack(value)) continue;
      text += `${separator}${name}=${fieldText(value instanceof Error ? value.message : value)}`;
      separator = ' ';
    }
    for (const value of Object.values(fields)) {
      if (hasStack(value)) {
        text += `\n    ${inspect(value).replaceAll('\n', '\n    ')}`;
      }
    }
    write(`${text}\n`);
  }
}

const paintOf: Readonly<Record<LogLevel, (text: string) => string>> = {
  trace: (text) => styleText('dim', text),
  debug: (text) => styleText('dim', text),
  info: (text) => styleText('green', text),
  warn: (text) => styleText('yellow', text),
  error: (text) => styleText('red', text),
  fatal: (text) => styleText(['bold', 'red'], text),
};

function hasStack(value: unknown): value is Error {
  return value instanceof Error && !('syscall' in value);
}

/** `2026-11-29 14:05:01.123` in the time zone of the machine. */
function localTime(timestamp: number): string {
  const local = new Date(timestamp - new Date(timestamp).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, -1).replace('T', ' ');
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') {
    return /^[\w.:/@,+-]+$/.test(value) ? value : printable(JSON.stringify(value));
  }
  return typeof value === 'object'
    ? inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 4 })
    : String(value);
}

/** What a client sent (its id, a topic's name) may hold line ends or commands for the terminal: they are shown, not obeyed. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
