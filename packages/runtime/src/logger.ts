// Logging: lines for a person on a terminal, JSON for a machine. The form with pino is in pino-logger.ts.

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** What a line is about: plain values under Kafka's names (topic, partition, client, …); `error` may be an Error. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  fatal(message: string, fields?: LogFields): void;
  isEnabled(level: LogLevel): boolean;
  /** A logger whose lines carry the part's name, as `[storage]`. */
  child(part: string): Logger;
}
