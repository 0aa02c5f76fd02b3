// What a quota limits, and its value: a number in requests, a text in the tree, in Java's spelling.

import { invalid, type QuotaEntity } from './quota-entities.ts';

/** How much of something a second. Of users and client ids. */
export type ClientQuotaKey = 'producer_byte_rate' | 'consumer_byte_rate' | 'request_percentage' | 'controller_mutation_rate';

/** Of addresses. */
export type AddressQuotaKey = 'connection_creation_rate';

export type QuotaKey = ClientQuotaKey | AddressQuotaKey;

type ValueType = 'DOUBLE' | 'LONG' | 'INT';

const clientQuotaTypes: ReadonlyMap<string, ValueType> = new Map<ClientQuotaKey, ValueType>([
  ['producer_byte_rate', 'LONG'],
  ['consumer_byte_rate', 'LONG'],
  ['request_percentage', 'DOUBLE'],
  ['controller_mutation_rate', 'DOUBLE'],
]);

const addressQuotaTypes: ReadonlyMap<string, ValueType> = new Map<AddressQuotaKey, ValueType>([
  ['connection_creation_rate', 'INT'],
]);

/** undefined: there is no such quota for such an entity. Users have credentials among their configs. */
export function quotaType(entity: QuotaEntity, key: string): ValueType | undefined {
  return (entity.ip === undefined ? clientQuotaTypes : addressQuotaTypes).get(key);
}

/** Kafka lets a client write 1000 as 1000.0000001. */
const epsilon = 1e-6;

const largest: Readonly<Record<ValueType, number>> = { DOUBLE: Number.MAX_VALUE, LONG: 2 ** 63, INT: 2 ** 31 - 1 };

/** The value as it is stored. Throws INVALID_REQUEST. */
export function quotaText(entity: QuotaEntity, key: string, value: number): string {
  const type = quotaType(entity, key);
  if (type === undefined) throw invalid(`Invalid configuration key ${key}`);
  if (!Number.isFinite(value)) throw invalid(`Quota ${key} must be a finite number`);
  if (value <= 0) throw invalid(`Quota ${key} must be greater than 0`);
  if (value > largest[type]) throw invalid(`Proposed value for ${key} is too large for ${type === 'INT' ? 'an' : 'a'} ${type}.`);
  if (type === 'DOUBLE') return Number.isInteger(value) ? `${BigInt(value)}.0` : String(value);
  const whole = Math.trunc(value + epsilon);
  if (Math.abs(whole - value) > epsilon) throw invalid(`${key} cannot be a fractional value.`);
  // 2^63 is what the largest long comes as: no double lies between the two.
  return type === 'LONG' && whole >= 2 ** 63 ? '9223372036854775807' : String(BigInt(whole));
}

/** The quotas among the configs of an entity. Throws where one is no number. */
export function quotaValues(entity: QuotaEntity, configs: ReadonlyMap<string, string>): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const [key, text] of configs) {
    if (quotaType(entity, key) === undefined) continue;
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isNaN(value)) throw new Error(`${key} is "${text}", which is no number`);
    values.set(key, value);
  }
  return values;
}
