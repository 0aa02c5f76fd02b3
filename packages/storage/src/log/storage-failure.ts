// What the callers of a log are told of an error.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { LogDirectory } from '../manager/log-directory.ts';
import { isDiskFault, isPassingFault } from './disk-fault.ts';
import { RetiredFileError } from './file-pool.ts';
import { FailedFlushError } from './recovery-point.ts';

export interface FailingLog {
  readonly path: string;
  readonly directory: LogDirectory;
  readonly isClosed: boolean;
}

/** A fault of the disk takes the directory offline. One that passes only refuses. A bug stays what it is. */
export function storageFailure(log: FailingLog, error: unknown, what: string): Error {
  if (error instanceof ProtocolError) return error;
  if (!log.directory.isOnline) return offline(log, error);
  if (log.isClosed || error instanceof RetiredFileError) {
    return new ProtocolError(errorCodes.NOT_LEADER_OR_FOLLOWER, `${log.path} is closed`, { cause: error });
  }
  if (error instanceof FailedFlushError || isDiskFault(error)) log.directory.fail(error);
  else if (!isPassingFault(error)) return error instanceof Error ? error : new Error(String(error));
  const message = error instanceof Error ? error.message : String(error);
  return new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${log.path} ${what}: ${message}`, { cause: error });
}

/** Throws what a caller may be told when the log is closed or its directory offline. */
export function ensureUsable(log: FailingLog): void {
  if (!log.directory.isOnline) throw offline(log);
  if (log.isClosed) throw new ProtocolError(errorCodes.NOT_LEADER_OR_FOLLOWER, `${log.path} is closed`);
}

function offline({ directory }: FailingLog, cause?: unknown): ProtocolError {
  return new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log directory ${directory.path} is offline`, { cause });
}
