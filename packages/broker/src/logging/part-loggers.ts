// The loggers of the broker's parts, with a level each that can change while the broker runs: what Kafka calls broker loggers.
//
// They write to a logger that lets everything through, and decide themselves what is written.

import { type LogFields, type Logger, type LogLevel, logLevels } from '@odradek/runtime';

/** The logger that a part without a level of its own follows. */
export const rootLoggerName = 'root';

/** As Kafka's tools spell them. */
export const levelNames: readonly string[] = logLevels.map((level) => level.toUpperCase());

export function isLevelName(text: string): boolean {
  return levelNames.includes(text);
}

interface Threshold {
  /** undefined: the root's. */
  own: number | undefined;
}

export class PartLoggers {
  /** The logger that the parts' loggers are children of. */
  readonly root: Logger;
  #rootThreshold: number;
  readonly #parts = new Map<string, Threshold>();

  /** `output` should let every level through, or the levels that it holds back cannot be switched on. */
  constructor(output: Logger, level: LogLevel) {
    this.#rootThreshold = logLevels.indexOf(level);
    this.root = new PartLogger(
      output,
      () => this.#rootThreshold,
      (part) => this.#threshold(part),
    );
  }

  /** Every logger that there is, with its level in capital letters. */
  levels(): ReadonlyMap<string, string> {
    const parts = [...this.#parts].map(([name, { own }]) => [name, levelName(own ?? this.#rootThreshold)] as const);
    return new Map([[rootLoggerName, levelName(this.#rootThreshold)], ...parts]);
  }

  /** `level` is one of levelNames. */
  setLevel(name: string, level: string): void {
    const threshold = levelNames.indexOf(level);
    if (name === rootLoggerName) this.#rootThreshold = threshold;
    else this.#part(name).own = threshold;
  }

  /** The part follows the root again. */
  resetLevel(name: string): void {
    this.#part(name).own = undefined;
  }

  #part(name: string): Threshold {
    const known = this.#parts.get(name);
    if (known !== undefined) return known;
    const part: Threshold = { own: undefined };
    this.#parts.set(name, part);
    return part;
  }

  #threshold(name: string): () => number {
    const part = this.#part(name);
    return () => part.own ?? this.#rootThreshold;
  }
}

function levelName(threshold: number): string {
  return levelNames[threshold] ?? '';
}

class PartLogger implements Logger {
  readonly #output: Logger;
  readonly #threshold: () => number;
  readonly #thresholdOf: (part: string) => () => number;

  constructor(output: Logger, threshold: () => number, thresholdOf: (part: string) => () => number) {
    this.#output = output;
    this.#threshold = threshold;
    this.#thresholdOf = thresholdOf;
  }

  trace(message: string, fields?: LogFields): void {
    if (this.#isOn(0)) this.#output.trace(message, fields);
  }

  debug(message: string, fields?: LogFields): void {
    if (this.#isOn(1)) this.#output.debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    if (this.#isOn(2)) this.#output.info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    if (this.#isOn(3)) this.#output.warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    if (this.#isOn(4)) this.#output.error(message, fields);
  }

  fatal(message: string, fields?: LogFields): void {
    if (this.#isOn(5)) this.#output.fatal(message, fields);
  }

  isEnabled(level: LogLevel): boolean {
    return this.#isOn(logLevels.indexOf(level)) && this.#output.isEnabled(level);
  }

  child(part: string): Logger {
    return new PartLogger(this.#output.child(part), this.#thresholdOf(part), this.#thresholdOf);
  }

  #isOn(level: number): boolean {
    return level >= this.#threshold();
  }
}
