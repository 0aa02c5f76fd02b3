// The public face of @odradek/storage.

export { type CleanerSettings, defaultCleanerSettings } from './cleaner/cleaner-schedule.ts';
export { type BatchBytes, BatchFile, BatchSizeError } from './inspect/batch-file.ts';
export { OffsetIndexView, TimeIndexView } from './inspect/index-views.ts';
export type { AppendInfo, AppendOptions } from './log/append-info.ts';
export { type AppendOrigin, InvalidRecordsError, type RecordError } from './log/append-validator.ts';
export { isDiskFault, isPassingFault } from './log/disk-fault.ts';
export type { EpochEnd } from './log/leader-epochs.ts';
export { defaultLogConfig, type LogConfig } from './log/log-config.ts';
export type { FetchedRecords, ReadOptions } from './log/log-reads.ts';
export type { PartitionLog, TimestampedOffset } from './log/partition-log.ts';
export { decodeSnapshot } from './log/producer-snapshot.ts';
export type { ActiveProducer, BatchMetadata, ProducerState } from './log/producer-states.ts';
export { parseTopicPartition, type TopicPartition, topicPartitionKey } from './log/topic-partition.ts';
export { type AbortedTransaction, readTransactionEntry, transactionEntryBytes } from './log/transaction-index.ts';
export type { FoundPartition } from './manager/found-partitions.ts';
export type { StartReport } from './manager/load-all.ts';
export { InvalidLogDirectoryError, type LogDirectory } from './manager/log-directory.ts';
export type { MaintenanceIntervals } from './manager/log-maintenance.ts';
export {
  type CleanerOptions,
  type CreateLogOptions,
  LogManager,
  type LogManagerOptions,
  mayMove,
} from './manager/log-manager.ts';
export { defaultMoveSettings, type MoveSettings } from './manager/log-moves.ts';
export { type Finding, type VerificationRule, verificationRules } from './verify/findings.ts';
export { type VerifyOptions, type VerifyReport, verifyLogDirectories } from './verify/verify-directories.ts';
