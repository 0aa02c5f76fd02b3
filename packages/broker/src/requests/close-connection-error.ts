// Thrown where the only answer to a request is to hang up: bytes that make no sense, an API or a version that is not served,
// a failed produce request with acks=0. The connection logs the message with the peer's address and closes.

export class CloseConnectionError extends Error {
  override readonly name = 'CloseConnectionError';
}
