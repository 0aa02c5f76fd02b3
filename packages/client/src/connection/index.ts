// The public face of @odradek/client/connection.

export { BrokerPool, type BrokerPoolOptions, type BrokerPoolParts, type NodeAddress } from './broker-pool.ts';
export {
  type Answer,
  Connection,
  type ConnectionAddress,
  type ConnectionOptions,
  type ConnectionParts,
  type Exchange,
  type Handshake,
  type RequestInit,
  type SendOptions,
} from './connection.ts';
export { ConnectionError, type ConnectionFault } from './connection-error.ts';
