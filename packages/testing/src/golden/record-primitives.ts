// Checks primitives.json: varints of each kind, and both checksums.

import assert from 'node:assert/strict';
import {
  crc32,
  crc32c,
  Reader,
  sizeOfUnsignedVarint,
  sizeOfVarint,
  sizeOfVarlong,
  writeUnsignedVarint,
  writeVarint,
  writeVarlong,
} from '@odradek/protocol';
import { assertInteger, type IntegerFact } from './record-facts.ts';
import type { Facts } from './records.ts';

interface VarintFact {
  readonly value: IntegerFact;
  readonly hex: string;
}

interface ChecksumFact {
  readonly hex: string;
  readonly crc32c: number;
  readonly crc32: number;
}

interface Check {
  readonly name: string;
  readonly run: () => void;
}

export function checkPrimitives(facts: Facts): Check[] {
  const varints: readonly VarintFact[] = facts['varint'] ?? [];
  const varlongs: readonly VarintFact[] = facts['varlong'] ?? [];
  const unsignedVarints: readonly VarintFact[] = facts['unsignedVarint'] ?? [];
  const checksums: readonly ChecksumFact[] = facts['crc32c'] ?? [];
  return [
    ...varints.map((fact) => varintCheck('varint', fact, (reader) => reader.varint(), writeVarint, sizeOfVarint)),
    ...varlongs.map((fact) => varintCheck('varlong', fact, (reader) => reader.varlong(), writeVarlong, sizeOfVarlong)),
    ...unsignedVarints.map((fact) =>
      varintCheck('unsignedVarint', fact, (reader) => reader.unsignedVarint(), writeUnsignedVarint, sizeOfUnsignedVarint),
    ),
    ...checksums.map((fact) => ({ name: `checksums of ${fact.hex.length / 2} bytes`, run: () => checkChecksums(fact) })),
  ];
}

function varintCheck(
  kind: string,
  fact: VarintFact,
  read: (reader: Reader) => number,
  write: (target: Uint8Array, position: number, value: number) => number,
  sizeOf: (value: number) => number,
): Check {
  const run = () => {
    const bytes = Buffer.from(fact.hex, 'hex');
    const reader = new Reader(bytes);
    assertInteger(read(reader), fact.value, 'value');
    assert.equal(reader.remaining, 0, 'bytes left');
    const value = Number(fact.value);
    // Larger values come up only from foreign bytes, and are never written.
    if (!Number.isSafeInteger(value)) return;
    const target = Buffer.alloc(10);
    const end = write(target, 0, value);
    assert.equal(target.toString('hex', 0, end), fact.hex, 'bytes written');
    assert.equal(sizeOf(value), bytes.length, 'size');
  };
  return { name: `${kind} ${fact.value}`, run };
}

function checkChecksums(fact: ChecksumFact): void {
  const bytes = Buffer.from(fact.hex, 'hex');
  assert.equal(crc32c(bytes), fact.crc32c >>> 0, 'CRC-32C');
  assert.equal(crc32(bytes), fact.crc32 >>> 0, 'CRC-32');
  const shifted = Buffer.concat([Buffer.from([1, 2, 3]), bytes, Buffer.from([4])]);
  assert.equal(crc32c(shifted, 3, 3 + bytes.length), fact.crc32c >>> 0, 'CRC-32C of a part');
}
