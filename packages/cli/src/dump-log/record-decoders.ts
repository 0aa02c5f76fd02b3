// What a dump shows of the key and the value of a record: text, or what a record of one of Kafka's own topics says.

import {
  ConsumerGroupCurrentMemberAssignmentKey,
  ConsumerGroupCurrentMemberAssignmentValue,
  ConsumerGroupMemberMetadataKey,
  ConsumerGroupMemberMetadataValue,
  ConsumerGroupMetadataKey,
  ConsumerGroupMetadataValue,
  ConsumerGroupPartitionMetadataKey,
  ConsumerGroupPartitionMetadataValue,
  ConsumerGroupRegularExpressionKey,
  ConsumerGroupRegularExpressionValue,
  ConsumerGroupTargetAssignmentMemberKey,
  ConsumerGroupTargetAssignmentMemberValue,
  ConsumerGroupTargetAssignmentMetadataKey,
  ConsumerGroupTargetAssignmentMetadataValue,
  ConsumerProtocolAssignment,
  ConsumerProtocolSubscription,
  exactCodecFor,
  GroupMetadataKey,
  GroupMetadataValue,
  type Json,
  type JsonObject,
  LegacyOffsetCommitKey,
  LegacyOffsetCommitValue,
  type LogRecord,
  MalformedMessageError,
  type MessageDefinition,
  messageJson,
  OffsetCommitKey,
  OffsetCommitValue,
  ProtocolError,
  Reader,
  ShareGroupCurrentMemberAssignmentKey,
  ShareGroupCurrentMemberAssignmentValue,
  ShareGroupMemberMetadataKey,
  ShareGroupMemberMetadataValue,
  ShareGroupMetadataKey,
  ShareGroupMetadataValue,
  ShareGroupStatePartitionMetadataKey,
  ShareGroupStatePartitionMetadataValue,
  ShareGroupTargetAssignmentMemberKey,
  ShareGroupTargetAssignmentMemberValue,
  ShareGroupTargetAssignmentMetadataKey,
  ShareGroupTargetAssignmentMetadataValue,
  ShareSnapshotKey,
  ShareSnapshotValue,
  ShareUpdateKey,
  ShareUpdateValue,
  StreamsGroupCurrentMemberAssignmentKey,
  StreamsGroupCurrentMemberAssignmentValue,
  StreamsGroupMemberMetadataKey,
  StreamsGroupMemberMetadataValue,
  StreamsGroupMetadataKey,
  StreamsGroupMetadataValue,
  StreamsGroupTargetAssignmentMemberKey,
  StreamsGroupTargetAssignmentMemberValue,
  StreamsGroupTargetAssignmentMetadataKey,
  StreamsGroupTargetAssignmentMetadataValue,
  StreamsGroupTopologyKey,
  StreamsGroupTopologyValue,
  TransactionLogKey,
  TransactionLogValue,
} from '@odradek/protocol';
import { DumpFailure } from './dump-failure.ts';
import { javaString, printJson } from './java-text.ts';

export interface DecodedRecord {
  /** undefined: there is none. */
  readonly key: string | undefined;
  readonly value: string | undefined;
}

export type RecordDecoder = (record: Pick<LogRecord, 'offset' | 'key' | 'value'>) => DecodedRecord;

export const decodeText: RecordDecoder = ({ key, value }) => ({
  key: key === null ? undefined : javaString(key),
  value: value === null ? undefined : javaString(value),
});

type KeyAndValue = readonly [key: MessageDefinition, value: MessageDefinition];
type ShownValue = (json: JsonObject, definition: MessageDefinition) => JsonObject;

/** All types that Apache Kafka 4.4 knows. It has forgotten type 9, which early share groups wrote. */
export const decodeGroupRecord = coordinatorDecoder(
  [
    [LegacyOffsetCommitKey, LegacyOffsetCommitValue],
    [OffsetCommitKey, OffsetCommitValue],
    [GroupMetadataKey, GroupMetadataValue],
    [ConsumerGroupMetadataKey, ConsumerGroupMetadataValue],
    [ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue],
    [ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue],
    [ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue],
    [ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue],
    [ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue],
    [ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue],
    [ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue],
    [ShareGroupMetadataKey, ShareGroupMetadataValue],
    [ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue],
    [ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue],
    [ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue],
    [ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue],
    [StreamsGroupMetadataKey, StreamsGroupMetadataValue],
    [StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue],
    [StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue],
    [StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue],
    [StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue],
    [StreamsGroupTopologyKey, StreamsGroupTopologyValue],
  ],
  (json, definition) => (definition === GroupMetadataValue ? withConsumerProtocol(json) : json),
);

export const decodeTransactionRecord = coordinatorDecoder([[TransactionLogKey, TransactionLogValue]], withStatusName);

export const decodeShareStateRecord = coordinatorDecoder([
  [ShareSnapshotKey, ShareSnapshotValue],
  [ShareUpdateKey, ShareUpdateValue],
]);

function coordinatorDecoder(pairs: readonly KeyAndValue[], shown: ShownValue = (json) => json): RecordDecoder {
  const byType = new Map(pairs.map((pair) => [pair[0].recordType, pair]));
  return ({ offset, key, value }) => {
    if (key === null) {
      const words = `Failed to decode message at offset ${offset} using the specified decoder (message had a missing key)`;
      throw new DumpFailure('java.lang.RuntimeException', words);
    }
    try {
      const type = readVersion(key, 'key');
      const definitions = byType.get(type);
      if (definitions === undefined) {
        return { key: `Unknown record type ${type} at offset ${offset}, skipping.`, value: undefined };
      }
      const [keyDefinition, valueDefinition] = definitions;
      const data = readBody(keyDefinition, 0, key, 'key');
      const printedKey = printJson({ type: String(type), data });
      if (value === null) return { key: printedKey, value: '<DELETE>' };
      const version = readVersion(value, 'value');
      const shownData = shown(readBody(valueDefinition, version, value, 'value'), valueDefinition);
      return { key: printedKey, value: printJson({ version: String(version), data: shownData }) };
    } catch (error) {
      if (!(error instanceof UndecodableError)) throw error;
      return { key: `Error at offset ${offset}, skipping. ${error.message}`, value: undefined };
    }
  };
}

/** The record is shown as something that cannot be decoded, and the dump goes on. */
class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

function readVersion(bytes: Buffer, name: 'key' | 'value'): number {
  if (bytes.length < 2) throw new UndecodableError(`Could not read version from ${name}'s buffer.`);
  return bytes.readInt16BE(0);
}

/** Throws MalformedMessageError, and a ProtocolError for an unknown version. */
export function readAsJson(definition: MessageDefinition, version: number, bytes: Buffer): JsonObject {
  return messageJson(definition, version, exactCodecFor(definition, version).read(new Reader(bytes)));
}

function readBody(definition: MessageDefinition, version: number, bytes: Buffer, name: 'key' | 'value'): JsonObject {
  try {
    return readAsJson(definition, version, bytes.subarray(2));
  } catch (error) {
    if (!isOfTheBytes(error)) throw error;
    throw new UndecodableError(`Could not read record with version ${version} from ${name}'s buffer due to: ${error.message}.`);
  }
}

function isOfTheBytes(error: unknown): error is Error {
  return error instanceof MalformedMessageError || error instanceof ProtocolError;
}

const transactionStatusNames = [
  'Empty',
  'Ongoing',
  'PrepareCommit',
  'PrepareAbort',
  'CompleteCommit',
  'CompleteAbort',
  'Dead',
  'PrepareEpochFence',
];

function withStatusName(json: JsonObject): JsonObject {
  const status = json['transactionStatus'];
  const name = transactionStatusNames[Number(status)];
  if (name === undefined) throw new UndecodableError(`Unknown transaction state id: ${String(status)}.`);
  return { ...json, transactionStatus: name };
}

/** Consumers put their subscription and assignment into opaque bytes of the classic group protocol. */
function withConsumerProtocol(json: JsonObject): JsonObject {
  if (json['protocolType'] !== 'consumer' || !Array.isArray(json['members'])) return json;
  const members = json['members'].map((member: JsonObject) => ({
    ...member,
    subscription: opened(member['subscription'], ConsumerProtocolSubscription),
    assignment: opened(member['assignment'], ConsumerProtocolAssignment),
  }));
  return { ...json, members };
}

/** The bytes as they are where they say nothing that can be understood. */
function opened(base64: Json | undefined, definition: MessageDefinition): Json {
  if (typeof base64 !== 'string') return base64 ?? null;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length < 2) return base64;
  try {
    return readAsJson(definition, bytes.readInt16BE(0), bytes.subarray(2));
  } catch (error) {
    if (!isOfTheBytes(error)) throw error;
    return base64;
  }
}
