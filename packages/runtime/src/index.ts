// The public face of @odradek/runtime.

export { type Clock, systemClock } from './clock.ts';
export type { DirectoryLock, FileStat, FileSystem, OpenFile, OpenMode } from './file-system.ts';
export type { LogFields, Logger, LogLevel } from './logger.ts';
export type { Counter, Histogram, MetricSeries, MetricsRegistry } from './metrics.ts';
export type { ByteStream, Listener, ListenOptions, Network, StreamReceiver } from './network.ts';
export { type Random, systemRandom } from './random.ts';
export type { Timer, TimerTask } from './timer.ts';
export type { World } from './world.ts';
