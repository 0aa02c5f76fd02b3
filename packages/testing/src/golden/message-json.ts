// A message as Kafka's JsonConverter would show it, from what the exact mode read: int64 as decimal strings, bytes and records in
// base64, fields that the version lacks and tagged fields with their default left out.

import { isDeepStrictEqual } from 'node:util';
import {
  type ExactMessage,
  type Field,
  type Fields,
  type MessageDefinition,
  parseVersions,
  versionsContain,
  zeroUuid,
} from '@odradek/protocol';

export interface UnknownTagged {
  /** A JSON pointer to the struct that has it. */
  readonly path: string;
  readonly tag: number;
  readonly hex: string;
}

export interface MessageJson {
  readonly json: unknown;
  readonly unknownTagged: readonly UnknownTagged[];
}

export function messageJson(definition: MessageDefinition, version: number, message: ExactMessage): MessageJson {
  const unknownTagged: UnknownTagged[] = [];
  const json = structJson(definition.fields, version, message, '', unknownTagged);
  return { json, unknownTagged };
}

function structJson(fields: Fields, version: number, struct: ExactMessage, path: string, unknown: UnknownTagged[]): unknown {
  const json: Record<string, unknown> = {};
  for (const { tag, bytes } of (struct.unknownTaggedFields ?? []) as { tag: number; bytes: Uint8Array }[]) {
    unknown.push({ path, tag, hex: Buffer.from(bytes).toString('hex') });
  }
  for (const [name, field] of Object.entries(fields)) {
    if (!isWithin(field.versions ?? field.taggedVersions, version)) continue;
    const value = struct[name];
    const isTagged = field.tag !== undefined && isWithin(field.taggedVersions ?? field.versions, version);
    if (isTagged && isDeepStrictEqual(value, defaultOf(field))) continue;
    json[name] = valueJson(field, version, value, `${path}/${name}`, unknown);
  }
  return json;
}

function valueJson(field: Field, version: number, value: unknown, path: string, unknown: UnknownTagged[]): unknown {
  if (value === null) return null;
  switch (field.kind) {
    case 'struct':
      return structJson(field.fields ?? {}, version, value as ExactMessage, path, unknown);
    case 'array':
      return (value as readonly unknown[]).map((element, index) =>
        valueJson(field.element as Field, version, element, `${path}/${index}`, unknown),
      );
    case 'int64':
    case 'int64Bits':
    case 'uint32':
      return String(value);
    case 'bytes':
    case 'records':
      return (value as Buffer).toString('base64');
    default:
      return value;
  }
}

/** What the exact mode reads where the field is absent. */
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

function isWithin(versions: string | undefined, version: number): boolean {
  return versions === undefined || versionsContain(parseVersions(versions), version);
}
