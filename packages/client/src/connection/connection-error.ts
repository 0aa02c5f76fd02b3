// What can be wrong with a connection, as opposed to what a broker answers over it.

/**
 * `unreachable`         no connection could be opened; it can be tried again
 * `closed`              the connection ended before the answer came; whether the request was carried out is not known
 * `timedOut`            no answer came in time; whether the request was carried out is not known
 * `busy`                as many requests as may be are under way; nothing was sent
 * `unsupportedVersion`  the broker does not speak what is to be sent; nothing was sent
 * `wrongBroker`         somebody else has the address by now
 * `malformed`           what came back is no answer of this protocol
 */
export type ConnectionFault = 'unreachable' | 'closed' | 'timedOut' | 'busy' | 'unsupportedVersion' | 'wrongBroker' | 'malformed';

export class ConnectionError extends Error {
  readonly fault: ConnectionFault;

  constructor(fault: ConnectionFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConnectionError';
    this.fault = fault;
  }
}
