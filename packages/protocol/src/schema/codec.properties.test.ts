// What must hold for every message in every version, tried with values drawn at random from the definitions.
// A failure names its seed; ODRADEK_SEED takes it back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from '@odradek/runtime';
import { type RandomMessage, randomMessage } from '@odradek/testing';
import * as protocol from '../index.ts';

const seed = Number(process.env.ODRADEK_SEED ?? 20241);
const isLong = process.env.ODRADEK_LONG === 'true';
const rounds = isLong ? 100 : 2;
const damagesPerMessage = isLong ? 40 : 4;

const definitions = Object.values<unknown>(protocol).filter(protocol.isMessageDefinition);

test('every message in every version reads back as it was written, and is written again to the same bytes', () => {
  forEachVersion((definition, version, random, where) => {
    const message = randomMessage(definition, version, random);
    const bytes = protocol.encodeToBuffer(definition, version, message);
    const decoded = protocol.decodeMessage(definition, version, bytes);
    assertContains(decoded, message, where);
    assert.deepEqual(Object.keys(decoded), Object.keys(definition.fields), `${where}: the keys and their order`);
    assert.ok(bytes.equals(protocol.encodeToBuffer(definition, version, decoded)), `${where}: other bytes the second time`);
    const exact = protocol.exactCodecFor(definition, version);
    const writer = new protocol.Writer();
    exact.write(writer, exact.read(new protocol.Reader(bytes)));
    assert.ok(bytes.equals(Buffer.concat(writer.chunks())), `${where}: other bytes in the exact mode`);
  });
});

test('a message that breaks off anywhere is malformed', () => {
  forEachVersion((definition, version, random, where) => {
    const bytes = protocol.encodeToBuffer(definition, version, randomMessage(definition, version, random));
    for (let attempt = 0; attempt < damagesPerMessage && bytes.length > 0; attempt++) {
      const cut = bytes.subarray(0, random.nextInt(bytes.length));
      assert.throws(
        () => protocol.decodeMessage(definition, version, cut),
        protocol.MalformedMessageError,
        `${where} cut to ${cut.length}`,
      );
    }
  });
});

test('damaged bytes are read as something or are malformed, nothing else', () => {
  forEachVersion((definition, version, random, where) => {
    const bytes = protocol.encodeToBuffer(definition, version, randomMessage(definition, version, random));
    for (let attempt = 0; attempt < damagesPerMessage && bytes.length > 0; attempt++) {
      const damaged = damage(bytes, random);
      try {
        protocol.decodeMessage(definition, version, damaged);
      } catch (error) {
        if (!(error instanceof protocol.MalformedMessageError))
          throw new Error(`${where}: ${damaged.toString('hex')}`, { cause: error });
      }
    }
  });
});

function forEachVersion(
  run: (definition: protocol.MessageDefinition, version: number, random: SeededRandom, where: string) => void,
): void {
  const random = new SeededRandom(seed);
  for (let round = 0; round < rounds; round++) {
    for (const definition of definitions) {
      for (let version = definition.versions.min; version <= definition.versions.max; version++) {
        run(definition, version, random, `${definition.name} ${version}, seed ${seed}`);
      }
    }
  }
}

/** Flips, replaces, inserts or removes some bytes. */
function damage(bytes: Buffer, random: SeededRandom): Buffer {
  let damaged = Buffer.from(bytes);
  for (let count = 1 + random.nextInt(3); count > 0 && damaged.length > 0; count--) {
    const position = random.nextInt(damaged.length);
    switch (random.nextInt(4)) {
      case 0:
        damaged[position] = (damaged[position] ?? 0) ^ (1 << random.nextInt(8));
        break;
      case 1:
        damaged.fill(
          [0, 0x7f, 0x80, 0xff][random.nextInt(4)] ?? 0,
          position,
          Math.min(damaged.length, position + 1 + random.nextInt(5)),
        );
        break;
      case 2:
        damaged = Buffer.concat([damaged.subarray(0, position), random.bytes(1 + random.nextInt(4)), damaged.subarray(position)]);
        break;
      default:
        damaged = Buffer.concat([damaged.subarray(0, position), damaged.subarray(position + 1)]);
    }
  }
  return damaged;
}

/** All that was given has been read; what was left out has a default, which is not looked at here. */
function assertContains(decoded: unknown, given: unknown, where: string): void {
  if (Array.isArray(given)) {
    assert.equal((decoded as unknown[]).length, given.length, where);
    for (const [index, element] of given.entries()) assertContains((decoded as unknown[])[index], element, `${where} ${index}`);
  } else if (typeof given === 'object' && given !== null && !Buffer.isBuffer(given)) {
    for (const [name, value] of Object.entries(given)) assertContains((decoded as RandomMessage)[name], value, `${where} ${name}`);
  } else {
    assert.deepEqual(decoded, given, where);
  }
}
