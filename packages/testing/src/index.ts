// The public face of @odradek/testing.

export { goldenDirectory } from './fixtures.ts';
export { type BrokerUnderTest, brokerUnderTest, uniqueName } from './foreign/broker-under-test.ts';
export { CertificateAuthority, type SignedCertificate } from './foreign/certificates.ts';
export { apacheKafka39, KafkaBroker, type KafkaBrokerOptions, quickJava, startKafkaBroker } from './foreign/kafka-broker.ts';
export {
  cacheDirectory,
  debianProgram,
  findProgram,
  goProgram,
  isContinuousIntegration,
  javaProgram,
  mavenClassPath,
  needed,
  pythonWith,
  skipWithout,
  type Tool,
} from './foreign/machine-tools.ts';
export { type CommandOptions, type CommandResult, runCommand } from './foreign/run-command.ts';
export { readAccessLists, superuserArgument } from './foreign/zookeeper-access-lists.ts';
export {
  startZooKeeper,
  ZooKeeperEnsemble,
  type ZooKeeperOptions,
  type ZooKeeperRole,
  ZooKeeperServer,
  zooKeeperJars,
} from './foreign/zookeeper-ensemble.ts';
export { readArchive, unpack } from './golden/log-archive.ts';
export { type GoldenScenario, testGoldenScripts } from './golden-script.ts';
export { InProcessBroker, type InProcessBrokerOptions } from './in-process-broker.ts';
export {
  type ClusterInterceptor,
  InProcessCluster,
  type InProcessClusterOptions,
  type PeerRequest,
  startCluster,
} from './in-process-cluster.ts';
export { freePort, OdradekProcess, type OdradekProcessOptions, startOdradekProcess } from './odradek-process.ts';
export { type RandomMessage, randomMessage } from './random-message.ts';
export { ConnectionClosedError, RawClient, type RawClientOptions } from './raw-client.ts';
export { type ServerCommand, ServerProcess, type ServerProcessOptions } from './server-process.ts';
export {
  type CrashLeaves,
  type DiskFault,
  type DiskOperation,
  SimulatedDisk,
  type SimulatedDiskOptions,
} from './simulated-disk.ts';
export { type NetworkFaults, SimulatedNetwork } from './simulated-network.ts';
export type { SimulatedProcess } from './simulated-process.ts';
export { promisesSettled, SimulatedClock, SimulatedTimer } from './simulated-time.ts';
export { type SimulatedMachine, SimulatedWorld, type SimulatedWorldOptions } from './simulated-world.ts';
export { SimulatedZooKeeper } from './simulated-zookeeper.ts';
export { type UntilOptions, until } from './until.ts';
