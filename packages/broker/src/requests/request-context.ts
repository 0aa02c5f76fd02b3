// What is known of a request besides its body: who sent it, over which listener, under which name.

/** Who a connection speaks for. Without authentication it is `User:ANONYMOUS`. */
export interface Principal {
  /** `User` for everyone that Kafka's own mechanisms authenticate. */
  readonly type: string;
  readonly name: string;
}

export const anonymousPrincipal: Principal = { type: 'User', name: 'ANONYMOUS' };

/** What becomes of the bytes that a request came in and of those that its answer goes out in, and of the connection afterwards. */
export interface FrameLease {
  /**
   * True: once the request is answered nothing refers to its bytes any more, and they may be overwritten. A handler says so; the
   * decoded request has slices of them (records, bytes), so one that keeps such a slice must not.
   */
  mayRecycle: boolean;
  /** Called once, when the answer has left or never will: nothing refers to its bytes any more. */
  onSent: (() => void) | undefined;
  /** For how long the connection is not read once the answer is out: the client does more than it may. */
  muteMs: number;
}

export interface RequestContext {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  readonly clientId: string | null;
  /** Kafka's form: local address and port, remote address and port, a running number. */
  readonly connectionId: string;
  /** The peer's IP address, without a port. */
  readonly clientAddress: string;
  readonly listenerName: string;
  /** PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL. */
  readonly securityProtocol: string;
  readonly principal: Principal;
  /** The request came over the inter-broker listener, or from the controller in this process. */
  readonly isPrivileged: boolean;
  /** Absent where the request came in no frame. */
  readonly frame?: FrameLease;
}
