// Messages drawn at random from their definitions, for round trips and for fuzzing. Small and odd values are drawn more often than
// their share, because that is where codecs break.

import { type Field, type Fields, type MessageDefinition, parseVersions, versionsContain } from '@odradek/protocol';
import type { Random } from '@odradek/runtime';

export type RandomMessage = Record<string, unknown>;

/** A message that the version can carry. Tagged fields are left out now and then. */
export function randomMessage(definition: MessageDefinition, version: number, random: Random): RandomMessage {
  return randomStruct(definition.fields, version, random, 0);
}

function randomStruct(fields: Fields, version: number, random: Random, depth: number): RandomMessage {
  const struct: RandomMessage = {};
  for (const [name, field] of Object.entries(fields)) {
    if (!isWithin(field.versions ?? field.taggedVersions, version)) continue;
    if (field.tag !== undefined && random.nextInt(3) === 0) continue;
    const isNull = field.nullable !== undefined && isWithin(field.nullable, version) && random.nextInt(4) === 0;
    struct[name] = isNull ? null : randomValue(field, version, random, depth);
  }
  return struct;
}

function randomValue(field: Field, version: number, random: Random, depth: number): unknown {
  switch (field.kind) {
    case 'bool':
      return random.nextInt(2) === 1;
    case 'int8':
      return randomInteger(random, -0x80, 0x7f);
    case 'int16':
      return randomInteger(random, -0x8000, 0x7fff);
    case 'uint16':
      return randomInteger(random, 0, 0xffff);
    case 'int32':
      return randomInteger(random, -0x80000000, 0x7fffffff);
    case 'uint32':
      return randomInteger(random, 0, 0xffffffff);
    case 'int64':
      return randomInteger(random, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    case 'int64Bits':
      return random.bytes(8).readBigInt64BE();
    case 'float64':
      return random.nextInt(4) === 0 ? 0 : (random.next() - 0.5) * 10 ** random.nextInt(300);
    case 'uuid':
      return random.bytes(16).toString('base64url');
    case 'string':
      return randomString(random);
    case 'bytes':
    case 'records':
      return random.bytes(random.nextInt(4) === 0 ? 0 : random.nextInt(200));
    case 'struct':
      return randomStruct(field.fields ?? {}, version, random, depth + 1);
    case 'array': {
      const count = random.nextInt(Math.max(2, 4 - depth));
      return Array.from({ length: count }, () => randomValue(field.element as Field, version, random, depth + 1));
    }
  }
}

function randomInteger(random: Random, min: number, max: number): number {
  const candidates = [0, -1, 1, min, max, min + Math.floor(random.next() * (max - min)), random.nextInt(200)];
  const value = candidates[random.nextInt(candidates.length)] ?? 0;
  return Math.max(min, Math.min(max, value));
}

/** Texts of one to four bytes a character, and lengths on both sides of where the length itself takes another byte. */
const alphabets = ['abcdefghijklmnopqrstuvwxyz-._0123456789', 'éüøßЖя', '日本語', '🚀𝕊'];
const lengths = [0, 1, 7, 12, 13, 42, 43, 63, 126, 127, 128, 300];

function randomString(random: Random): string {
  const alphabet = [...(alphabets[random.nextInt(3) === 0 ? random.nextInt(alphabets.length) : 0] ?? '')];
  const length = random.nextInt(3) === 0 ? (lengths[random.nextInt(lengths.length)] ?? 0) : random.nextInt(20);
  return Array.from({ length }, () => alphabet[random.nextInt(alphabet.length)]).join('');
}

function isWithin(versions: string | undefined, version: number): boolean {
  return versions === undefined || versionsContain(parseVersions(versions), version);
}
