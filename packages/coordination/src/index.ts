// The public face of @odradek/coordination.

export * from './acl-nodes.ts';
export {
  type Coordination,
  CoordinationError,
  type CoordinationErrorCode,
  type CoordinationStore,
  type CreateOptions,
  isCoordinationError,
  type NodeData,
  type NodeStat,
  type Operation,
  type OperationResult,
  type SessionState,
  type WatchEvent,
  type Watcher,
} from './coordination.ts';
export * from './coordination-tree.ts';
export { EmbeddedStore, type EmbeddedStoreParts, journalFileName } from './embedded/embedded-store.ts';
export { CorruptJournalError } from './embedded/write-ahead-file.ts';
export { InvalidNodeError } from './node-json.ts';
export type { ZooKeeperAuth } from './zookeeper/authentication.ts';
export { parseConnectString } from './zookeeper/connect-string.ts';
export type { SaslCredentials } from './zookeeper/digest-md5.ts';
// For servers in tests that speak ZooKeeper's protocol.
export { JuteReader, JuteWriter } from './zookeeper/jute.ts';
export { opcodes } from './zookeeper/requests.ts';
export { ZooKeeperStore, type ZooKeeperStoreParts } from './zookeeper/zookeeper-store.ts';
