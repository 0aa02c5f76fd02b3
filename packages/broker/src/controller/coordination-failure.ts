// What a client is told when the coordination tree cannot take a change.

import { isCoordinationError } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';

/**
 * A store that fails becomes KAFKA_STORAGE_ERROR, which says that trying again may help; the end of the session REQUEST_TIMED_OUT: it may
 * be done or not. Anything else is thrown on.
 */
export function coordinationFailure(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (isCoordinationError(error, 'ConnectionLoss')) {
    return new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, 'The change could not be written to the coordination tree.', {
      cause: error,
    });
  }
  if (isCoordinationError(error, 'SessionExpired')) {
    return new ProtocolError(errorCodes.REQUEST_TIMED_OUT, 'The session has ended meanwhile: it may be done or not.', {
      cause: error,
    });
  }
  throw error;
}
