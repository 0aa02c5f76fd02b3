// The vocabulary in which messages are defined, and the types that follow from a definition.
//
//   export const HeartbeatRequest = message({ name: 'HeartbeatRequest', type: 'request', apiKey: 12, versions: '0-4', flexible: '4+',
//     fields: { groupId: string(), generationId: int32(), groupInstanceId: string({ versions: '3+', nullable: '3+', default: null }) } });
//   export type HeartbeatRequest = Message<typeof HeartbeatRequest>;
//
// A definition is a plain object and costs nothing until a codec is asked for: compile.ts turns it into functions at first use.

import { parseVersions, type VersionRange } from './versions.ts';

export type FieldKind =
  | 'bool'
  | 'int8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'int64Bits'
  | 'float64'
  | 'uuid'
  | 'string'
  | 'bytes'
  | 'records'
  | 'struct'
  | 'array';

export interface FieldOptions<T> {
  /** The versions in which the field exists; all of the message's where left out. */
  readonly versions?: string;
  /** The versions in which it may be null. */
  readonly nullable?: string;
  /** What readers see where it is absent, and what writers may leave out. Zero, empty or false where left out. */
  readonly default?: T | null;
  /** Its number among the tagged fields of its struct. */
  readonly tag?: number;
  /** The versions in which it is a tagged field; those of `versions` where left out. */
  readonly taggedVersions?: string;
  /** True: writing a version that lacks the field drops the value silently instead of failing. */
  readonly ignorable?: boolean;
  /** 'none': keeps the old form of lengths also in flexible versions. */
  readonly flexible?: 'none';
}

// The two types of a field exist for the compiler only. Properties, not type parameters that are inferred back, because looking up a
// property is far cheaper for the type checker.
declare const decoded: unique symbol;
declare const encodable: unique symbol;

export interface Field<D = unknown, E = unknown> extends FieldOptions<unknown> {
  readonly kind: FieldKind;
  /** The fields of a struct. */
  readonly fields?: Fields;
  /** What an array holds. */
  readonly element?: Field;
  readonly [decoded]: D;
  readonly [encodable]: E;
}

export type Fields = Readonly<Record<string, Field>>;

export type Decoded<F extends Fields> = { readonly [K in keyof F]: F[K][typeof decoded] };
export type Encodable<F extends Fields> = { [K in keyof F]?: F[K][typeof encodable] | undefined };

export interface MessageDefinition<F extends Fields = Fields> {
  readonly name: string;
  readonly type: 'request' | 'response' | 'header' | 'data';
  /** The number of the API that a request or response belongs to. */
  readonly apiKey?: number;
  /** The int16 before the keys of an internal topic, which says what kind of record it is. */
  readonly recordType?: number;
  readonly versions: VersionRange;
  /** The versions with compact lengths and tagged fields. */
  readonly flexible: VersionRange;
  readonly fields: F;
}

/** A message as it was read: every field is there, with its default where the version lacks it. */
export type Message<D extends MessageDefinition> = Decoded<D['fields']>;

/** A message to be written: what is left out, or undefined, has its default. */
export type MessageInit<D extends MessageDefinition> = Encodable<D['fields']>;

export function message<F extends Fields>(definition: {
  readonly name: string;
  readonly type: MessageDefinition['type'];
  readonly apiKey?: number;
  readonly recordType?: number;
  readonly versions: string;
  readonly flexible: string;
  readonly fields: F;
}): MessageDefinition<F> {
  return { ...definition, versions: parseVersions(definition.versions), flexible: parseVersions(definition.flexible) };
}

/** Tells definitions from whatever else a module exports. */
export function isMessageDefinition(value: unknown): value is MessageDefinition {
  return typeof value === 'object' && value !== null && 'fields' in value && 'versions' in value && 'flexible' in value;
}

type Nullable<O, T> = O extends { readonly nullable: string } ? T | null : T;

function field<D, E>(kind: FieldKind, options: FieldOptions<unknown> | undefined, fields?: Fields, element?: Field): Field<D, E> {
  // The phantom properties have no value; this is the one place that pretends they had.
  return { kind, ...options, fields, element } as unknown as Field<D, E>;
}

type Options<T> = FieldOptions<T> | undefined;

export function bool<O extends Options<boolean> = undefined>(options?: O): Field<boolean, boolean> {
  return field('bool', options);
}

export function int8<O extends Options<number> = undefined>(options?: O): Field<number, number> {
  return field('int8', options);
}

export function int16<O extends Options<number> = undefined>(options?: O): Field<number, number> {
  return field('int16', options);
}

export function uint16<O extends Options<number> = undefined>(options?: O): Field<number, number> {
  return field('uint16', options);
}

export function int32<O extends Options<number> = undefined>(options?: O): Field<number, number> {
  return field('int32', options);
}

export function uint32<O extends Options<number> = undefined>(options?: O): Field<number, number> {
  return field('uint32', options);
}

/** Read as a number; what lies beyond the safe integers is read as the nearest safe integer. */
export function int64<O extends Options<number | bigint> = undefined>(options?: O): Field<number, number> {
  return field('int64', options);
}

/** An int64 of which every bit matters. */
export function int64Bits<O extends Options<bigint> = undefined>(options?: O): Field<bigint, bigint> {
  return field('int64Bits', options);
}

export function float64<O extends Options<number> = undefined>(options?: O): Field<number, number> {
  return field('float64', options);
}

/** Kafka's text form of a uuid: 22 characters of URL-safe base64. */
export function uuid<O extends Options<string> = undefined>(options?: O): Field<string, string> {
  return field('uuid', options);
}

export function string<const O extends Options<string> = undefined>(options?: O): Field<Nullable<O, string>, Nullable<O, string>> {
  return field('string', options);
}

/** Read as a slice of the frame, not a copy. */
export function bytes<const O extends Options<never> = undefined>(
  options?: O,
): Field<Nullable<O, Buffer>, Nullable<O, Uint8Array>> {
  return field('bytes', options);
}

/** Record batches: read as a slice of the frame, written as the given pieces, neither copied. */
export function records<const O extends Options<never> = undefined>(
  options?: O,
): Field<Nullable<O, Buffer>, Nullable<O, Uint8Array | readonly Uint8Array[]>> {
  return field('records', options);
}

export function struct<F extends Fields, const O extends Options<never> = undefined>(
  fields: F,
  options?: O,
): Field<Nullable<O, Decoded<F>>, Nullable<O, Encodable<F>>> {
  return field('struct', options, fields);
}

export function array<D, E, const O extends Options<never> = undefined>(
  element: Field<D, E>,
  options?: O,
): Field<Nullable<O, readonly D[]>, Nullable<O, readonly E[]>> {
  return field('array', options, undefined, element);
}
