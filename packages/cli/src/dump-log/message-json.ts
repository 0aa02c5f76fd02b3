// A message as JSON, in the form that Kafka's tools print: fields that the version lacks and tagged fields with their default are left
// out, bytes are in base64.

import { isDeepStrictEqual } from 'node:util';
import {
  type ExactMessage,
  exactCodecFor,
  type Field,
  type Fields,
  type MessageDefinition,
  parseVersions,
  Reader,
  versionsContain,
  zeroUuid,
} from '@odradek/protocol';
import type { Json } from './java-text.ts';

export type JsonObject = { [name: string]: Json };

/** Throws MalformedMessageError, and a ProtocolError for an unknown version. */
export function readAsJson(definition: MessageDefinition, version: number, bytes: Buffer): JsonObject {
  return structJson(definition.fields, version, exactCodecFor(definition, version).read(new Reader(bytes)));
}

function structJson(fields: Fields, version: number, struct: ExactMessage): JsonObject {
  const json: JsonObject = {};
  for (const [name, field] of Object.entries(fields)) {
    if (!isWithin(field.versions ?? field.taggedVersions, version)) continue;
    const isTagged = field.tag !== undefined && isWithin(field.taggedVersions ?? field.versions, version);
    if (isTagged && isDeepStrictEqual(struct[name], defaultOf(field))) continue;
    json[name] = valueJson(field, version, struct[name]);
  }
  return json;
}

function valueJson(field: Field, version: number, value: unknown): Json {
  if (value === null) return null;
  switch (field.kind) {
    case 'struct':
      return structJson(field.fields ?? {}, version, value as ExactMessage);
    case 'array':
      return (value as readonly unknown[]).map((element) => valueJson(field.element as Field, version, element));
    case 'bytes':
    case 'records':
      return (value as Buffer).toString('base64');
    default:
      return value as string | number | bigint | boolean;
  }
}

/** What is read where a tagged field is absent. */
function defaultOf(field: Field): unknown {
  if (field.default === null) return null;
  switch (field.kind) {
    case 'struct':
      return {
        ...Object.fromEntries(Object.entries(field.fields ?? {}).map(([name, inner]) => [name, defaultOf(inner)])),
        unknownTaggedFields: [],
      };
    case 'array':
      return [];
    case 'bytes':
    case 'records':
      return field.nullable === undefined ? Buffer.alloc(0) : null;
    case 'string':
      return field.default ?? '';
    case 'uuid':
      return field.default ?? zeroUuid;
    case 'bool':
      return field.default ?? false;
    case 'int64':
    case 'int64Bits':
      return BigInt((field.default as number | bigint | undefined) ?? 0);
    default:
      return field.default ?? 0;
  }
}

function isWithin(versions: string | undefined, version: number): boolean {
  return versions === undefined || versionsContain(parseVersions(versions), version);
}
