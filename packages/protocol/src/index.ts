// The public face of @odradek/protocol.

export { type Api, apiByKey, apis } from './api-keys.ts';
export { type ErrorCode, type ErrorName, errorByCode, errorCodes, ProtocolError } from './error-codes.ts';
export * from './messages/00-produce.ts';
export * from './messages/01-fetch.ts';
export * from './messages/02-list-offsets.ts';
export * from './messages/03-metadata.ts';
export * from './messages/04-leader-and-isr.ts';
export * from './messages/05-stop-replica.ts';
export * from './messages/06-update-metadata.ts';
export * from './messages/07-controlled-shutdown.ts';
export * from './messages/08-offset-commit.ts';
export * from './messages/09-offset-fetch.ts';
export * from './messages/10-find-coordinator.ts';
export * from './messages/11-join-group.ts';
export * from './messages/12-heartbeat.ts';
export * from './messages/13-leave-group.ts';
export * from './messages/14-sync-group.ts';
export * from './messages/15-describe-groups.ts';
export * from './messages/16-list-groups.ts';
export * from './messages/17-sasl-handshake.ts';
export * from './messages/18-api-versions.ts';
export * from './messages/19-create-topics.ts';
export * from './messages/20-delete-topics.ts';
export * from './messages/21-delete-records.ts';
export * from './messages/22-init-producer-id.ts';
export * from './messages/23-offset-for-leader-epoch.ts';
export * from './messages/24-add-partitions-to-txn.ts';
export * from './messages/25-add-offsets-to-txn.ts';
export * from './messages/26-end-txn.ts';
export * from './messages/27-write-txn-markers.ts';
export * from './messages/28-txn-offset-commit.ts';
export * from './messages/29-describe-acls.ts';
export * from './messages/30-create-acls.ts';
export * from './messages/31-delete-acls.ts';
export * from './messages/32-describe-configs.ts';
export * from './messages/33-alter-configs.ts';
export * from './messages/34-alter-replica-log-dirs.ts';
export * from './messages/35-describe-log-dirs.ts';
export * from './messages/36-sasl-authenticate.ts';
export * from './messages/37-create-partitions.ts';
export * from './messages/38-create-delegation-token.ts';
export * from './messages/39-renew-delegation-token.ts';
export * from './messages/40-expire-delegation-token.ts';
export * from './messages/41-describe-delegation-token.ts';
export * from './messages/42-delete-groups.ts';
export * from './messages/43-elect-leaders.ts';
export * from './messages/44-incremental-alter-configs.ts';
export * from './messages/45-alter-partition-reassignments.ts';
export * from './messages/46-list-partition-reassignments.ts';
export * from './messages/47-offset-delete.ts';
export * from './messages/48-describe-client-quotas.ts';
export * from './messages/49-alter-client-quotas.ts';
export * from './messages/50-describe-user-scram-credentials.ts';
export * from './messages/51-alter-user-scram-credentials.ts';
export * from './messages/56-alter-partition.ts';
export * from './messages/57-update-features.ts';
export * from './messages/58-envelope.ts';
export * from './messages/60-describe-cluster.ts';
export * from './messages/61-describe-producers.ts';
export * from './messages/65-describe-transactions.ts';
export * from './messages/66-list-transactions.ts';
export * from './messages/67-allocate-producer-ids.ts';
export * from './messages/68-consumer-group-heartbeat.ts';
export * from './messages/69-consumer-group-describe.ts';
export * from './messages/71-get-telemetry-subscriptions.ts';
export * from './messages/72-push-telemetry.ts';
export * from './messages/74-list-config-resources.ts';
export * from './messages/75-describe-topic-partitions.ts';
export * from './messages/76-share-group-heartbeat.ts';
export * from './messages/77-share-group-describe.ts';
export * from './messages/78-share-fetch.ts';
export * from './messages/79-share-acknowledge.ts';
export * from './messages/83-initialize-share-group-state.ts';
export * from './messages/84-read-share-group-state.ts';
export * from './messages/85-write-share-group-state.ts';
export * from './messages/86-delete-share-group-state.ts';
export * from './messages/87-read-share-group-state-summary.ts';
export * from './messages/88-streams-group-heartbeat.ts';
export * from './messages/89-streams-group-describe.ts';
export * from './messages/90-describe-share-group-offsets.ts';
export * from './messages/91-alter-share-group-offsets.ts';
export * from './messages/92-delete-share-group-offsets.ts';
export * from './messages/93-streams-group-topology-description-update.ts';
export * from './messages/94-unregister-controller.ts';
export * from './messages/aborted-transaction.ts';
export * from './messages/classic-group-records.ts';
export * from './messages/consumer-group-records.ts';
export * from './messages/control-records.ts';
export * from './messages/default-principal.ts';
export * from './messages/group-assignment.ts';
export * from './messages/group-subscription.ts';
export * from './messages/offset-records.ts';
export * from './messages/request-header.ts';
export * from './messages/response-header.ts';
export * from './messages/share-group-records.ts';
export * from './messages/share-state-records.ts';
export * from './messages/streams-group-records.ts';
export * from './messages/transaction-records.ts';
export {
  buildEmptyBatch,
  buildRecordBatch,
  type EmptyBatchOptions,
  type RecordBatchOptions,
  withRecordsOf,
} from './records/batch-builder.ts';
export {
  type Batch,
  type BatchesSummary,
  batchAt,
  batchSizeAt,
  firstBatchOf,
  iterateBatches,
  lastBatchOf,
  recordBatchesIn,
} from './records/batches.ts';
export {
  type CompressionType,
  compress,
  compressAsync,
  compressionTypeById,
  compressionTypeId,
  compressionTypes,
  decompress,
  decompressAsync,
  defaultMaxDecompressedBytes,
} from './records/compression.ts';
export {
  buildControlBatch,
  type ControlBatchOptions,
  type ControlRecordType,
  controlRecordType,
  type EndTransactionMarker,
  readEndTransactionMarker,
} from './records/control-record.ts';
export { crc32, crc32c } from './records/crc32c.ts';
export { LegacyBatch, type LegacyMagic } from './records/legacy-batch.ts';
export { buildLegacyBatch, type LegacyBatchOptions } from './records/legacy-builder.ts';
export {
  type LogRecord,
  type RecordHeader,
  type RecordInit,
  RecordReader,
  sizeOfRecord,
  type TimestampType,
} from './records/record.ts';
export {
  logOverhead,
  magicPosition,
  noPartitionLeaderEpoch,
  noProducerEpoch,
  noProducerId,
  noSequence,
  noTimestamp,
  RecordBatch,
  recordBatchOverhead,
  sequenceAfter,
} from './records/record-batch.ts';
export { convertRecords, needsConversion, type RebuildOptions, rebuildRecords } from './records/record-conversion.ts';
export {
  CorruptRecordError,
  DecompressionError,
  InvalidRecordError,
  UnsupportedCompressionTypeError,
} from './records/record-errors.ts';
export { countRecords, type RecordsSummary, validateRecords } from './records/record-validation.ts';
export {
  type Codec,
  codecFor,
  decodeMessage,
  type ExactCodec,
  type ExactMessage,
  encodeMessage,
  encodeToBuffer,
  exactCodecFor,
} from './schema/codec.ts';
export { type CodecMode, codecName, codecSource } from './schema/compile.ts';
export {
  array,
  bool,
  bytes,
  type Decoded,
  type Encodable,
  type Field,
  type FieldOptions,
  type Fields,
  float64,
  int8,
  int16,
  int32,
  int64,
  int64Bits,
  isMessageDefinition,
  type Message,
  type MessageDefinition,
  type MessageInit,
  message,
  records,
  string,
  struct,
  uint16,
  uint32,
  uuid,
} from './schema/define.ts';
export { type Json, type JsonObject, messageJson } from './schema/message-json.ts';
export { intersectVersions, parseVersions, type VersionRange, versionsContain } from './schema/versions.ts';
export { FrameCutter, frame } from './wire/frame.ts';
export { MalformedMessageError } from './wire/malformed-message-error.ts';
export { Reader } from './wire/reader.ts';
export { zeroUuid } from './wire/uuid.ts';
export {
  sizeOfUnsignedVarint,
  sizeOfVarint,
  sizeOfVarlong,
  writeUnsignedVarint,
  writeVarint,
  writeVarlong,
} from './wire/varint.ts';
export { Writer } from './wire/writer.ts';
