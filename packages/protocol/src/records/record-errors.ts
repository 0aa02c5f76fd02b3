// What can be wrong with record batches, each with the error code that a broker answers.

import { errorCodes, ProtocolError } from '../error-codes.ts';

/** The bytes are not a batch, or not the batch that was written: a wrong size, magic or checksum. */
export class CorruptRecordError extends ProtocolError {
  override readonly name: string = 'CorruptRecordError';

  constructor(message: string, options?: ErrorOptions) {
    super(errorCodes.CORRUPT_MESSAGE, message, options);
  }
}

/** The batch is whole, but its records do not have the structure they must have. */
export class InvalidRecordError extends ProtocolError {
  override readonly name: string = 'InvalidRecordError';

  constructor(message: string, options?: ErrorOptions) {
    super(errorCodes.INVALID_RECORD, message, options);
  }
}

/**
 * The compressed part of a batch is not what its codec writes, or would grow beyond the bound set for it. Kafka has no error code for
 * that, and answers a producer UNKNOWN_SERVER_ERROR.
 */
export class DecompressionError extends ProtocolError {
  override readonly name: string = 'DecompressionError';

  constructor(message: string, options?: ErrorOptions) {
    super(errorCodes.UNKNOWN_SERVER_ERROR, message, options);
  }
}

/** A codec that the message format does not have: zstd exists only from magic 2 on. */
export class UnsupportedCompressionTypeError extends ProtocolError {
  override readonly name: string = 'UnsupportedCompressionTypeError';

  constructor(message: string, options?: ErrorOptions) {
    super(errorCodes.UNSUPPORTED_COMPRESSION_TYPE, message, options);
  }
}
