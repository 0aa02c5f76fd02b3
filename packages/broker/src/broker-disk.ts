// The log directories of a broker: taken before anything else is begun, their logs opened once the configs of their topics are known, and
// given up when they fail.

import { type Logger, NodeFileSystem } from '@odradek/runtime';
import { type LogConfig, type LogDirectory, LogManager } from '@odradek/storage';
import type { BrokerConfig } from './broker-config.ts';
import { announceLogDirectoryFailure } from './broker-registration.ts';
import type { Assembly, Cluster, State } from './broker-stages.ts';
import { cleanerSettings } from './cleaner-settings.ts';
import { absoluteLogDirs, isCordoned, moveSettings } from './log-dir-settings.ts';

export interface BrokerDisk {
  readonly logManager: LogManager;
  /** What later stages add: logs are opened and directories watched only when these are there. */
  readonly later: {
    topicLogConfig: (topic: string) => LogConfig;
    onDirectoryOffline: (directory: LogDirectory) => void;
  };
}

/** Takes the log directories; no log is opened yet. */
export function openBrokerDisk({ config, world, stoppers }: Assembly): BrokerDisk {
  const later: BrokerDisk['later'] = {
    topicLogConfig: (topic) => {
      throw new Error(`The configs of ${topic} are not known yet`);
    },
    onDirectoryOffline: () => undefined,
  };
  const logManager = LogManager.open({
    world,
    directories: absoluteLogDirs(config),
    isCordoned: (path) => isCordoned(config, path),
    moves: moveSettings(config),
    recoveryThreads: () => config.get('num.recovery.threads.per.data.dir'),
    topicLogConfig: (topic) => later.topicLogConfig(topic),
    tailCacheBytes: config.get('odradek.tail.cache.bytes'),
    maxOpenFiles: config.get('odradek.max.open.files'),
    intervals: maintenanceIntervals(config),
    // A simulated disk is in the memory of this thread only.
    cleaner: { settings: cleanerSettings(config), runIn: world.fileSystem instanceof NodeFileSystem ? 'thread' : 'turns' },
    onDirectoryOffline: (directory) => later.onDirectoryOffline(directory),
  });
  stoppers.push(() => logManager.close());
  return { logManager, later };
}

/** Opens the logs, which may take long after an unclean stop. */
export async function loadLogs({ logManager }: BrokerDisk, logger: Logger): Promise<void> {
  await logManager.load();
  reportRecovery(logManager, logger);
}

/** After an unclean stop a person wants to know what was looked through, and whether anything was cut off. */
function reportRecovery({ startReport }: LogManager, logger: Logger): void {
  const { isClean, scannedSegments, scannedBytes, truncatedBytes } = startReport;
  if (!isClean) logger.info('Recovered the logs after an unclean stop', { scannedSegments, scannedBytes, truncatedBytes });
}

/** How long a partition that a full disk has refused waits for being tried again. */
const fullDiskRetryMs = 5000;

/**
 * A directory that fails takes its partitions along; without the last one, or the one with the journal, the broker stops. Throws where that
 * came while the logs were being opened.
 */
export function followDiskFailures(
  { world, loggers, logger, failed }: Assembly,
  { logManager, later }: BrokerDisk,
  { coordination, coordinationDirectory, brokerId }: Cluster,
  { replicaManager }: State,
): void {
  const online = (): LogDirectory[] => logManager.directories.filter(({ isOnline }) => isOnline);
  const needed = logManager.directories.find(({ path }) => path === coordinationDirectory);
  if (needed?.isOnline === false)
    throw new Error(`The log directory ${needed.path}, which has the coordination journal, has failed`);
  if (online().length === 0) throw new Error('All log directories have failed');
  later.onDirectoryOffline = (directory) => {
    replicaManager.takeDirectoryOffline(directory);
    if (directory === needed || online().length === 0) {
      loggers.root.fatal('The broker stops: the disk that it cannot do without has failed', { directory: directory.path });
      failed.resolve(new Error(`The log directory ${directory.path} has failed`));
      return;
    }
    announceLogDirectoryFailure(coordination, brokerId).catch((error: unknown) => {
      logger.error('The controller could not be told of a failed log directory', { directory: directory.path, error });
    });
  };
  let isRetryDue = false;
  replicaManager.onDiskFull = () => {
    if (isRetryDue) return;
    isRetryDue = true;
    world.timer.schedule(fullDiskRetryMs, () => {
      isRetryDue = false;
      if (!replicaManager.awaitsRoom) return;
      // The controller orders all partitions of this broker again, as far as it knows that it has to: the refusal may still be on its way
      // to it, and its store on the same disk. So this goes on until there is room and the order has come.
      announceLogDirectoryFailure(coordination, brokerId).then(replicaManager.onDiskFull, replicaManager.onDiskFull);
    });
  };
}

function maintenanceIntervals(config: BrokerConfig): NonNullable<Parameters<typeof LogManager.open>[0]['intervals']> {
  return {
    highWatermarkCheckpointMs: config.get('replica.high.watermark.checkpoint.interval.ms'),
    recoveryPointCheckpointMs: config.get('log.flush.offset.checkpoint.interval.ms'),
    logStartOffsetCheckpointMs: config.get('log.flush.start.offset.checkpoint.interval.ms'),
    flushCheckMs: config.get('log.flush.scheduler.interval.ms'),
    retentionCheckMs: config.get('log.retention.check.interval.ms'),
    firstRetentionCheckMs: config.get('log.initial.task.delay.ms'),
    producerExpiryCheckMs: config.get('producer.id.expiration.check.interval.ms'),
  };
}
