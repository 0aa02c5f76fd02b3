// Logging: lines for a person on a terminal (text-logger.ts), JSON for a machine (json-logger.ts).

/** From the least important to the most. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type LogLevel = (typeof logLevels)[number];

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
