// What the log says about an append, in the terms that a coordinator's clients act on.

import { errorCodes, ProtocolError } from '@odradek/protocol';

export function coordinatorError(error: unknown): ProtocolError {
  if (!(error instanceof ProtocolError)) return new ProtocolError(errorCodes.UNKNOWN_SERVER_ERROR, undefined, { cause: error });
  const code = coordinatorErrorCode(error.code);
  return code === error.code ? error : new ProtocolError(code, error.message, { cause: error });
}

function coordinatorErrorCode(code: number): number {
  switch (code) {
    case errorCodes.UNKNOWN_TOPIC_OR_PARTITION:
    case errorCodes.NOT_ENOUGH_REPLICAS:
    case errorCodes.REQUEST_TIMED_OUT:
      return errorCodes.COORDINATOR_NOT_AVAILABLE;
    case errorCodes.NOT_LEADER_OR_FOLLOWER:
    case errorCodes.KAFKA_STORAGE_ERROR:
      return errorCodes.NOT_COORDINATOR;
    case errorCodes.MESSAGE_TOO_LARGE:
    case errorCodes.RECORD_LIST_TOO_LARGE:
    case errorCodes.INVALID_FETCH_SIZE:
      return errorCodes.UNKNOWN_SERVER_ERROR;
    default:
      return code;
  }
}
