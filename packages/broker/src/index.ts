// The public face of @odradek/broker.

export { type Broker, type BrokerOptions, startBroker } from './broker.ts';
export { builtInProperties } from './broker-config.ts';
export type { ReplicaStatus } from './replication/replica-status.ts';
export { openSharedCoordination, type SharedCoordination } from './shared-coordination.ts';
