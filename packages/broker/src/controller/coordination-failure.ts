// What a client is told when the coordination tree cannot take a change.

import { isCoordinationError } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';

/** The store's own failures become KAFKA_STORAGE_ERROR, which says that trying again may help; anything else is thrown on. */
export function coordinationFailure(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (isCoordinationError(error, 'ConnectionLoss', 'SessionExpired')) {
    return new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, 'The change could not be written to the coordination tree.', {
      cause: error,
    });
  }
  throw error;
}
