// The public face of @odradek/protocol.

export { type ErrorCode, type ErrorName, errorByCode, errorCodes, ProtocolError } from './error-codes.ts';
export {
  array,
  bool,
  bytes,
  type Field,
  type FieldOptions,
  type Fields,
  float64,
  int8,
  int16,
  int32,
  int64,
  int64Bits,
  type Message,
  type MessageDefinition,
  type MessageInit,
  message,
  records,
  string,
  struct,
  uint16,
  uint32,
  uuid,
  zeroUuid,
} from './schema/define.ts';
export { intersectVersions, parseVersions, type VersionRange, versionsContain } from './schema/versions.ts';
export { FrameCutter, frame } from './wire/frame.ts';
export { MalformedMessageError } from './wire/malformed-message-error.ts';
export { Reader } from './wire/reader.ts';
export {
  sizeOfUnsignedVarint,
  sizeOfVarint,
  sizeOfVarlong,
  writeUnsignedVarint,
  writeVarint,
  writeVarlong,
} from './wire/varint.ts';
export { Writer } from './wire/writer.ts';
