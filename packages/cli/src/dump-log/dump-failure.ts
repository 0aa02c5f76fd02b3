// What ends a dump. Scripts look for the names of the Java exceptions with which Kafka's tool ends, so it is told in those.

import { CorruptRecordError, InvalidRecordError, ProtocolError } from '@odradek/protocol';

export class DumpFailure extends Error {
  override readonly name = 'DumpFailure';
  /** The exception's class in Kafka's tool. */
  readonly exception: string;

  constructor(exception: string, message: string) {
    super(message);
    this.exception = exception;
  }
}

/** undefined for a fault of ours. */
export function failureOf(error: unknown): string | undefined {
  const failure = dumpFailureOf(error);
  if (failure === undefined) return undefined;
  const message = failure.message === '' ? '' : `: ${failure.message}`;
  return `Exception in thread "main" ${failure.exception}${message}`;
}

function dumpFailureOf(error: unknown): DumpFailure | undefined {
  if (error instanceof DumpFailure) return error;
  if (error instanceof CorruptRecordError) {
    return new DumpFailure('org.apache.kafka.common.errors.CorruptRecordException', error.message);
  }
  if (error instanceof InvalidRecordError) return new DumpFailure('org.apache.kafka.common.InvalidRecordException', error.message);
  if (error instanceof ProtocolError) return new DumpFailure('org.apache.kafka.common.KafkaException', error.message);
  if (!(error instanceof Error && 'code' in error && 'path' in error)) return undefined;
  const exception = error.code === 'ENOENT' ? 'java.nio.file.NoSuchFileException' : 'java.nio.file.FileSystemException';
  return new DumpFailure(exception, String(error.path));
}

/** The number at the beginning of a segment file's name. */
export function baseOffsetOf(fileName: string): number {
  const digits = fileName.split('.', 1)[0] ?? '';
  if (/^[+-]?\d+$/.test(digits)) return Number(digits);
  throw new DumpFailure('java.lang.NumberFormatException', `For input string: "${digits}"`);
}
