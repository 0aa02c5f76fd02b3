// A message in the form of the golden vectors: its JSON with Java's longs as decimal strings, and beside it the tagged fields that the
// definition does not know.

import { type ExactMessage, type Json, type MessageDefinition, messageJson } from '@odradek/protocol';

export interface UnknownTagged {
  /** A JSON pointer to the struct that has it. */
  readonly path: string;
  readonly tag: number;
  readonly hex: string;
}

export interface VectorJson {
  readonly json: unknown;
  readonly unknownTagged: readonly UnknownTagged[];
}

export function vectorJson(definition: MessageDefinition, version: number, message: ExactMessage): VectorJson {
  return { json: withLongsAsText(messageJson(definition, version, message)), unknownTagged: [...unknownTaggedIn(message, '')] };
}

function withLongsAsText(json: Json): unknown {
  if (typeof json === 'bigint') return String(json);
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return json.map(withLongsAsText);
  return Object.fromEntries(Object.entries(json).map(([name, inner]) => [name, withLongsAsText(inner)]));
}

function* unknownTaggedIn(value: unknown, path: string): Generator<UnknownTagged> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name !== 'unknownTaggedFields') yield* unknownTaggedIn(inner, `${path}/${name}`);
    else for (const { tag, bytes } of inner) yield { path, tag, hex: Buffer.from(bytes).toString('hex') };
  }
}
