// A message as JSON, in the form that Kafka's tools print: fields that the version lacks and tagged fields with their default are left
// out, bytes are in base64. What is a long in Java is a bigint.

import { isDeepStrictEqual } from 'node:util';
import { zeroUuid } from '../wire/uuid.ts';
import type { ExactMessage } from './codec.ts';
import type { Field, Fields, MessageDefinition } from './define.ts';
import { elementOf, fieldsInVersion } from './versioned-field.ts';

export type Json = string | number | bigint | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export type JsonObject = { readonly [name: string]: Json };

export function messageJson(definition: MessageDefinition, version: number, message: ExactMessage): JsonObject {
  return structJson(definition.fields, version, message);
}

function structJson(fields: Fields, version: number, struct: ExactMessage): JsonObject {
  const json: Record<string, Json> = {};
  for (const { name, field, isPresent, isTagged } of fieldsInVersion('', fields, version, true)) {
    if (!isPresent || (isTagged && isDeepStrictEqual(struct[name], defaultOf(field)))) continue;
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
      return (value as readonly unknown[]).map((element) => valueJson(elementOf(field), version, element));
    case 'bytes':
    case 'records':
      return (value as Buffer).toString('base64');
    case 'int64':
    case 'int64Bits':
    case 'uint32':
      return BigInt(value as number | bigint);
    default:
      return value as string | number | boolean;
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
      return Buffer.alloc(0);
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
