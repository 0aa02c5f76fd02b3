// The public face of @odradek/runtime.

export { type BackgroundThread, startThread, type ThreadListener, threadParent } from './background-thread.ts';
export { BufferPool, type BufferPoolOptions } from './buffer-pool.ts';
export { type Clock, systemClock } from './clock.ts';
export {
  atLeast,
  between,
  boolean,
  type Check,
  ConfigError,
  className,
  distinct,
  double,
  type Importance,
  int,
  list,
  long,
  maxInt,
  maxLong,
  nonEmptyList,
  nonEmptyString,
  nonNullString,
  oneOf,
  oneOfIgnoringCase,
  type Properties,
  parseOverride,
  parseProperties,
  parseSetting,
  password,
  printSetting,
  type Setting,
  type SettingName,
  type SettingOptions,
  type SettingScalar,
  type Settings,
  type SettingType,
  type SettingValue,
  short,
  string,
  type UpdateMode,
} from './config.ts';
export {
  DirectoryInUseError,
  type DirectoryLock,
  type FileStat,
  type FileSystem,
  type OpenFile,
  type OpenMode,
} from './file-system.ts';
export { type LogFields, type Logger, type LogLevel, logLevels } from './logger.ts';
export type { Counter, Histogram, MetricSeries, MetricsRegistry } from './metrics.ts';
export { MetricsTable } from './metrics-table.ts';
export type { ByteStream, Listener, ListenOptions, Network, StreamReceiver } from './network.ts';
export { NodeFileSystem } from './node-file-system.ts';
export { NodeNetwork, type NodeNetworkOptions } from './node-network.ts';
export { type Random, systemRandom } from './random.ts';
export { SeededRandom } from './seeded-random.ts';
export { SystemTimer } from './system-timer.ts';
export { createLogger, createSystemWorld, type LogOptions, type SystemWorldOptions } from './system-world.ts';
export type { Timer, TimerTask } from './timer.ts';
export { TimingWheel, type WheelEntry } from './timing-wheel.ts';
export { TlsConnector, type TlsConnectorOptions } from './tls-connector.ts';
export type { World } from './world.ts';
