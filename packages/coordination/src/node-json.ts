// The JSON in the nodes of the tree: reading with checks, and writing as Kafka's brokers do.

/** A node's data is not what its place in the tree says. */
export class InvalidNodeError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvalidNodeError';
  }
}

export type JsonObject = { readonly [key: string]: unknown };

export function toNode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

export function parseObject(data: Uint8Array | null, what: string): JsonObject {
  if (data === null) throw new InvalidNodeError(`${what} has no data`);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
  } catch (error) {
    throw new InvalidNodeError(`${what} is not JSON`, { cause: error });
  }
  return asObject(value, what);
}

export function asObject(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidNodeError(`${what} is not an object`);
  return value as JsonObject;
}

export function asArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidNodeError(`${what} is not an array`);
  return value;
}

export function asInteger(value: unknown, what: string): number {
  if (!Number.isSafeInteger(value)) throw new InvalidNodeError(`${what} is not a whole number`);
  return value as number;
}

/** Kafka writes some 64-bit numbers as text. */
export function asIntegerText(value: unknown, what: string): number {
  return asInteger(typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value, what);
}

export function asString(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new InvalidNodeError(`${what} is not text`);
  return value;
}

export function asIntegers(value: unknown, what: string): number[] {
  return asArray(value, what).map((element) => asInteger(element, what));
}

export function asStringMap(value: unknown, what: string): Map<string, string> {
  return new Map(Object.entries(asObject(value, what)).map(([key, text]) => [key, asString(text, `${what}.${key}`)]));
}

/** `{"0":[1,2]}` → replicas by partition. */
export function asReplicaMap(value: unknown, what: string): Map<number, number[]> {
  const replicas = new Map<number, number[]>();
  for (const [key, list] of Object.entries(asObject(value, what))) {
    replicas.set(asIntegerText(key, what), asIntegers(list, `${what}.${key}`));
  }
  return replicas;
}

/**
 * The entries in the order in which Java's Properties gives them out, so that a config node has the same bytes whoever wrote
 * it: a hash table of 16 slots that doubles when it is three quarters full, walked slot by slot.
 */
export function inPropertiesOrder(configs: ReadonlyMap<string, string>): Record<string, string> {
  let slots = 16;
  while (configs.size >= slots * 0.75) slots *= 2;
  const keyed = [...configs].map(([key, value]) => ({ key, value, slot: javaSlot(key, slots) }));
  keyed.sort((a, b) => a.slot - b.slot);
  // A name made of digits only would jump the queue in a JavaScript object; no config is called that.
  return Object.fromEntries(keyed.map(({ key, value }) => [key, value]));
}

function javaSlot(key: string, slots: number): number {
  let hash = 0;
  for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
  return (hash ^ (hash >>> 16)) & (slots - 1);
}

/** The name as it stands in a path: as in a URL, but a space is %20 and a star %2A. */
export function sanitizeName(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function desanitizeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch (error) {
    throw new InvalidNodeError(`${name} is not a percent-encoded name`, { cause: error });
  }
}
