// What can be wrong with record batches. Each carries the error code that a broker answers with.

/** The bytes are not a batch, or not the batch that was written: a wrong size, magic or CRC. */
export class CorruptRecordError extends Error {
  readonly code: number = 2;
  override readonly name: string = 'CorruptRecordError';
}

/** The batch is whole, but the records in it do not have the structure they must have. */
export class InvalidRecordError extends Error {
  readonly code: number = 87;
  override readonly name: string = 'InvalidRecordError';
}

/** The compressed part of a batch is not what its codec writes, or would grow beyond the bound set for it. */
export class DecompressionError extends InvalidRecordError {
  override readonly name: string = 'DecompressionError';
}

/** A codec that the message format does not have: zstd exists only from magic 2 on. */
export class UnsupportedCompressionTypeError extends Error {
  readonly code: number = 76;
  override readonly name: string = 'UnsupportedCompressionTypeError';
}
