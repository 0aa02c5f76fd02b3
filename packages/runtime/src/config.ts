// Settings: how one is declared (name, type, default, check, documentation), read from text and printed again.
// The vocabulary is Kafka's: the nine types, the ranges and the way a value is written.

import { parse } from 'dot-properties';

export type SettingType = 'BOOLEAN' | 'STRING' | 'INT' | 'SHORT' | 'LONG' | 'DOUBLE' | 'LIST' | 'CLASS' | 'PASSWORD';
export type Importance = 'HIGH' | 'MEDIUM' | 'LOW';

/** When a changed value takes effect: after a restart, on the one broker it was set for, or on all of them. */
export type UpdateMode = 'read-only' | 'per-broker' | 'cluster-wide';

/** A rule for values that have the right type already. */
export interface Check {
  /** The rule as Kafka prints it: `[1,...]`. */
  readonly description: string;
  /** What is wrong with the value; undefined when nothing is. `text` is the value as it was written. */
  problem(value: SettingScalar, text: string): string | undefined;
}

export type SettingScalar = boolean | number | string | readonly string[];

export interface Setting<T extends SettingScalar | null = SettingScalar | null> {
  readonly type: SettingType;
  /** The default as it prints; null: unset. */
  readonly defaultText: string | null;
  readonly defaultValue: T;
  readonly check: Check | undefined;
  readonly importance: Importance;
  readonly update: UpdateMode;
  /** Left out of lists of all settings unless somebody has set it. */
  readonly isInternal: boolean;
  readonly documentation: string;
}

export interface SettingOptions {
  readonly doc: string;
  /** MEDIUM unless stated. */
  readonly importance?: Importance;
  readonly valid?: Check;
  /** read-only unless stated. */
  readonly update?: UpdateMode;
  readonly internal?: boolean;
}

/** Settings under their names; declare it `as const satisfies Settings` or let inference do it. */
export type Settings = Readonly<Record<string, Setting>>;
export type SettingName<S extends Settings> = keyof S & string;
export type SettingValue<S extends Settings, K extends keyof S> = S[K] extends Setting<infer T> ? T : never;

/** A value that cannot be used. The message is one line, meant for whoever wrote the value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** `9223372036854775807`, for limits that mean "none". Its number is Number.MAX_SAFE_INTEGER. */
export const maxLong = '9223372036854775807';
export const maxInt = 2147483647;

// Declarations. A default of null makes the value's type nullable.

export function boolean(defaultValue: boolean, options: SettingOptions): Setting<boolean> {
  return declare('BOOLEAN', String(defaultValue), options) as Setting<boolean>;
}

export function string(defaultValue: string, options: SettingOptions): Setting<string>;
export function string(defaultValue: null, options: SettingOptions): Setting<string | null>;
export function string(defaultValue: string | null, options: SettingOptions): Setting<string> | Setting<string | null> {
  return declare('STRING', defaultValue, options) as Setting<string>;
}

export function className(defaultValue: string, options: SettingOptions): Setting<string>;
export function className(defaultValue: null, options: SettingOptions): Setting<string | null>;
export function className(defaultValue: string | null, options: SettingOptions): Setting<string> | Setting<string | null> {
  return declare('CLASS', defaultValue, options) as Setting<string>;
}

/** A secret: no answer and no log line shows its value. */
export function password(defaultValue: null, options: SettingOptions): Setting<string | null> {
  return declare('PASSWORD', defaultValue, options) as Setting<string | null>;
}

export function int(defaultValue: number, options: SettingOptions): Setting<number>;
export function int(defaultValue: null, options: SettingOptions): Setting<number | null>;
export function int(defaultValue: number | null, options: SettingOptions): Setting<number> | Setting<number | null> {
  return declare('INT', defaultValue === null ? null : String(defaultValue), options) as Setting<number>;
}

export function short(defaultValue: number, options: SettingOptions): Setting<number> {
  return declare('SHORT', String(defaultValue), options) as Setting<number>;
}

/** A default beyond the safe integers is written as text. */
export function long(defaultValue: number | string, options: SettingOptions): Setting<number>;
export function long(defaultValue: null, options: SettingOptions): Setting<number | null>;
export function long(defaultValue: number | string | null, options: SettingOptions): Setting<number> | Setting<number | null> {
  return declare('LONG', defaultValue === null ? null : String(defaultValue), options) as Setting<number>;
}

export function double(defaultValue: number, options: SettingOptions): Setting<number> {
  return declare('DOUBLE', printDouble(defaultValue), options) as Setting<number>;
}

/** The default is written as in a file, with commas. */
export function list(defaultValue: string, options: SettingOptions): Setting<readonly string[]>;
export function list(defaultValue: null, options: SettingOptions): Setting<readonly string[] | null>;
export function list(
  defaultValue: string | null,
  options: SettingOptions,
): Setting<readonly string[]> | Setting<readonly string[] | null> {
  return declare('LIST', defaultValue, options) as Setting<readonly string[]>;
}

function declare(type: SettingType, defaultText: string | null, options: SettingOptions): Setting {
  return {
    type,
    defaultText,
    // A default need not pass the check: some stand for "unset", outside the range of what may be set.
    defaultValue: defaultText === null ? null : readText(type, defaultText).value,
    check: options.valid,
    importance: options.importance ?? 'MEDIUM',
    update: options.update ?? 'read-only',
    isInternal: options.internal ?? false,
    documentation: options.doc,
  };
}

// Checks.

export function atLeast(min: number): Check {
  return {
    description: `[${min},...]`,
    problem: (value) => ((value as number) < min ? `Value must be at least ${min}` : undefined),
  };
}

export function between(min: number, max: number): Check {
  return {
    description: `[${min},...,${max}]`,
    problem: (value) =>
      (value as number) < min
        ? `Value must be at least ${min}`
        : (value as number) > max
          ? `Value must be no more than ${max}`
          : undefined,
  };
}

/** A string, or each entry of a list, is one of these. An empty list is allowed, an entry that occurs twice is not. */
export function oneOf(...allowed: readonly string[]): Check {
  return {
    description: `[${allowed.join(', ')}]`,
    problem: (value) => {
      const entries = typeof value === 'string' ? [value] : (value as readonly string[]);
      if (entries.some((entry) => !allowed.includes(entry))) return `String must be one of: ${allowed.join(', ')}`;
      return duplicateProblem(entries);
    },
  };
}

export function oneOfIgnoringCase(...allowed: readonly string[]): Check {
  return {
    description: `(case insensitive) [${allowed.join(', ')}]`,
    problem: (value) =>
      allowed.some((each) => each.toLowerCase() === String(value).toLowerCase())
        ? undefined
        : `String must be one of (case insensitive): ${allowed.join(', ')}`,
  };
}

export const nonEmptyString: Check = {
  description: 'non-empty string',
  problem: (value) => (value === '' ? 'String must not be empty' : undefined),
};

export const nonNullString: Check = { description: 'non-null string', problem: () => undefined };

export const nonEmptyList: Check = {
  description: 'non-empty list',
  problem: (value) => ((value as readonly string[]).length === 0 ? 'the list must not be empty' : undefined),
};

/** A list in which nothing occurs twice. Kafka prints no description for this rule. */
export function distinct(options: { readonly mayBeEmpty: boolean }): Check {
  return {
    description: '',
    problem: (value) => {
      const entries = value as readonly string[];
      if (entries.length === 0 && !options.mayBeEmpty) return 'the list must not be empty';
      if (entries.includes('')) return 'the list has an empty entry';
      return duplicateProblem(entries);
    },
  };
}

function duplicateProblem(entries: readonly string[]): string | undefined {
  const twice = entries.find((entry, index) => entries.indexOf(entry) !== index);
  return twice === undefined ? undefined : `${twice} occurs more than once`;
}

// Reading and printing.

/** The value of a setting that was given as text. Throws ConfigError. */
export function parseSetting<T extends SettingScalar | null>(name: string, setting: Setting<T>, text: string): T {
  const shown = setting.type === 'PASSWORD' ? '[hidden]' : text;
  const read = readText(setting.type, text);
  const problem = read.problem ?? setting.check?.problem(read.value, text.trim());
  if (problem !== undefined) throw new ConfigError(`Invalid value ${shown} for configuration ${name}: ${problem}`);
  return read.value as SettingScalar as T;
}

/** The text of a valid value in Kafka's form: trimmed, numbers without leading zeros, a list without spaces. All 64 bits of a LONG are kept. */
export function printSetting(setting: Setting, text: string): string {
  const trimmed = text.trim();
  switch (setting.type) {
    case 'BOOLEAN':
      return trimmed.toLowerCase();
    case 'INT':
    case 'SHORT':
    case 'LONG':
      return BigInt(trimmed).toString();
    case 'DOUBLE':
      return printDouble(readDouble(trimmed));
    case 'LIST':
      return splitList(trimmed).join(',');
    case 'STRING':
    case 'CLASS':
    case 'PASSWORD':
      return trimmed;
  }
}

interface ReadText {
  readonly value: SettingScalar;
  readonly problem?: string;
}

function readText(type: SettingType, text: string): ReadText {
  const trimmed = text.trim();
  switch (type) {
    case 'BOOLEAN': {
      const lower = trimmed.toLowerCase();
      if (lower === 'true' || lower === 'false') return { value: lower === 'true' };
      return { value: false, problem: 'Not true or false' };
    }
    case 'INT':
      return readWhole(trimmed, type, 31n);
    case 'SHORT':
      return readWhole(trimmed, type, 15n);
    case 'LONG':
      return readWhole(trimmed, type, 63n);
    case 'DOUBLE': {
      const value = readDouble(trimmed);
      return Number.isNaN(value) ? { value, problem: 'Not a number of type DOUBLE' } : { value };
    }
    case 'LIST':
      return { value: splitList(trimmed) };
    case 'STRING':
    case 'CLASS':
    case 'PASSWORD':
      return { value: trimmed };
  }
}

function readWhole(text: string, type: SettingType, bits: bigint): ReadText {
  const problem = `Not a number of type ${type}`;
  if (!/^[+-]?\d{1,20}$/.test(text)) return { value: 0, problem };
  const exact = BigInt(text);
  if (exact < -(1n << bits) || exact >= 1n << bits) return { value: 0, problem };
  const nearest = Number(exact);
  if (Number.isSafeInteger(nearest)) return { value: nearest };
  return { value: exact > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER };
}

function readDouble(text: string): number {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

/** As Java prints a double: always a point, and an exponent from 10^7 up and below 10^-3. */
function printDouble(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-3 && size < 1e7)) return Number.isInteger(value) ? `${value}.0` : String(value);
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent.replace('+', '')}`;
}

function splitList(text: string): string[] {
  return text === '' ? [] : text.split(',').map((entry) => entry.trim());
}

// Files and command lines.

export type Properties = ReadonlyMap<string, string>;

/** Reads Java's .properties format. Nothing in a value is replaced: `${…}` stays as it is. Of equal keys the last one counts. */
export function parseProperties(text: string): Map<string, string> {
  // Some editors put a byte order mark before the first name, which would then be another one.
  const tree = parse(text.replace(/^\uFEFF/, '')) as Record<string, unknown>;
  return new Map(Object.entries(tree).map(([key, value]) => [key, String(value)]));
}

/** Reads `key=value`, as given to `--override`. Throws ConfigError. */
export function parseOverride(text: string): readonly [key: string, value: string] {
  const split = text.indexOf('=');
  const key = split < 0 ? '' : text.slice(0, split).trim();
  if (key === '') throw new ConfigError(`An override must look like key=value, but this one is: ${text}`);
  return [key, text.slice(split + 1).trim()];
}
