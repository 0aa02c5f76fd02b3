// Codecs: compiled when a message is first met in a version, and kept.

import { errorCodes, ProtocolError } from '../error-codes.ts';
import { Reader } from '../wire/reader.ts';
import { Writer } from '../wire/writer.ts';
import { type CodecMode, compile } from './compile.ts';
import type { Message, MessageDefinition, MessageInit } from './define.ts';
import { versionsContain } from './versions.ts';

export interface Codec<D extends MessageDefinition> {
  /** Throws a MalformedMessageError when the bytes are not such a message. */
  read(reader: Reader): Message<D>;
  /** Throws when a value is given that this version has no field for, unless the field is ignorable. */
  write(writer: Writer, message: MessageInit<D>): void;
}

/** A message in exact mode: int64 as bigint, and what the definition does not know as `unknownTaggedFields`. */
export type ExactMessage = Readonly<Record<string, unknown>>;

export interface ExactCodec {
  read(reader: Reader): ExactMessage;
  write(writer: Writer, message: ExactMessage): void;
}

const compiled: Readonly<Record<CodecMode, Map<MessageDefinition, unknown[]>>> = { ordinary: new Map(), exact: new Map() };

export function codecFor<D extends MessageDefinition>(definition: D, version: number): Codec<D> {
  return codecOf(definition, version, 'ordinary') as Codec<D>;
}

/** For checks against other implementations, where every bit has to survive. */
export function exactCodecFor(definition: MessageDefinition, version: number): ExactCodec {
  return codecOf(definition, version, 'exact') as ExactCodec;
}

function codecOf(definition: MessageDefinition, version: number, mode: CodecMode): unknown {
  let versions = compiled[mode].get(definition);
  if (versions === undefined) {
    versions = [];
    compiled[mode].set(definition, versions);
  }
  const known = versions[version];
  if (known !== undefined) return known;
  if (!versionsContain(definition.versions, version)) {
    throw new ProtocolError(errorCodes.UNSUPPORTED_VERSION, `There is no version ${version} of ${definition.name}`);
  }
  const codec = compile(definition, version, mode);
  versions[version] = codec;
  return codec;
}

/** What follows the message in the buffer is ignored, as Kafka does. */
export function decodeMessage<D extends MessageDefinition>(definition: D, version: number, buffer: Buffer): Message<D> {
  return codecFor(definition, version).read(new Reader(buffer));
}

/** One writer serves all: a message is written whole before the next begins. */
const sharedWriter = new Writer();

/** The message as chunks, so that records need not be copied. */
export function encodeMessage<D extends MessageDefinition>(definition: D, version: number, message: MessageInit<D>): Buffer[] {
  sharedWriter.reset();
  codecFor(definition, version).write(sharedWriter, message);
  return sharedWriter.chunks();
}

export function encodeToBuffer<D extends MessageDefinition>(definition: D, version: number, message: MessageInit<D>): Buffer {
  const chunks = encodeMessage(definition, version, message);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}
