// What the requests for access lists have in common.

import { errorCodes, ProtocolError } from '@odradek/protocol';

/** Without an authorizer nobody reads the lists, and there are none. */
export function securityDisabled(): ProtocolError {
  return new ProtocolError(errorCodes.SECURITY_DISABLED, 'No Authorizer is configured.');
}
