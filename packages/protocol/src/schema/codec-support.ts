// What the generated functions of compile.ts call by name, besides the reader and the writer.

import { errorCodes, ProtocolError } from '../error-codes.ts';
import type { Writer } from '../wire/writer.ts';

/** A tagged field that the definition does not know, as the exact mode keeps it. */
export interface UnknownTaggedField {
  readonly tag: number;
  readonly bytes: Uint8Array;
}

export const codecSupport = {
  /** The default of bytes. */
  emptyBuffer: Buffer.alloc(0),

  /** What is written for an array that was left out. */
  none: Object.freeze([]),

  /** The value or its default; null is an error where the version has no form for it. */
  required(value: unknown, byDefault: unknown, name: string): unknown {
    if (value === undefined) return byDefault;
    if (value === null) throw new TypeError(`The field ${name} must not be null`);
    return value;
  },

  unsupported(message: string, version: number, name: string): never {
    throw new ProtocolError(
      errorCodes.UNSUPPORTED_VERSION,
      `${message} has no field ${name} in version ${version}, but it was given a value`,
    );
  },

  /** Writes the fields from the index on whose tags are below the given one, and returns the index of the first that is not. */
  unknownTaggedFieldsBelow(
    tag: number,
    writer: Writer,
    fields: readonly UnknownTaggedField[],
    from: number,
    isTagTaken: boolean,
  ): number {
    let index = from;
    for (; index < fields.length; index++) {
      const field = fields[index] as UnknownTaggedField;
      if (field.tag > tag || (field.tag === tag && !isTagTaken)) break;
      const previous = fields[index - 1];
      if (field.tag === tag || (previous !== undefined && previous.tag >= field.tag)) {
        throw new TypeError(`The tagged field ${field.tag} is there twice, or out of order`);
      }
      writer.unsignedVarint(field.tag);
      writer.unsignedVarint(field.bytes.length);
      writer.raw(field.bytes);
    }
    return index;
  },
};
