'use strict';
const { emptyBuffer, none, required, unsupported, unknownTaggedFieldsBelow } = support;

function defaultReplicaState() {
  return { replicaId: -1, replicaEpoch: -1 };
}

function isDefaultReplicaState(message) {
  return (message.replicaId === undefined || message.replicaId === -1) && (message.replicaEpoch === undefined || message.replicaEpoch === -1);
}

function readTopicsPartitions(reader) {
  const partition = reader.int32();
  const currentLeaderEpoch = reader.int32();
  const fetchOffset = reader.int64();
  const lastFetchedEpoch = reader.int32();
  const logStartOffset = reader.int64();
  const partitionMaxBytes = reader.int32();
  reader.skipTaggedFields();
  return { partition, currentLeaderEpoch, fetchOffset, lastFetchedEpoch, logStartOffset, partitionMaxBytes, replicaDirectoryId: "AAAAAAAAAAAAAAAAAAAAAA", highWatermark: 9007199254740991 };
}

function writeTopicsPartitions(writer, message) {
  writer.int32(message.partition ?? 0);
  writer.int32(message.currentLeaderEpoch ?? -1);
  writer.int64(message.fetchOffset ?? 0);
  writer.int32(message.lastFetchedEpoch ?? -1);
  writer.int64(message.logStartOffset ?? -1);
  writer.int32(message.partitionMaxBytes ?? 0);
  writer.unsignedVarint(0);
}

function readTopics(reader) {
  const topic = reader.string(reader.compactLength(), 'topic');
  const $partitionsCount = reader.count(reader.compactLength(), 33, 'partitions');
  const partitions = [];
  for (let $index = 0; $index < $partitionsCount; $index++) partitions.push(readTopicsPartitions(reader));
  reader.skipTaggedFields();
  return { topic, topicId: "AAAAAAAAAAAAAAAAAAAAAA", partitions };
}

function writeTopics(writer, message) {
  {
    const $value = required(message.topic, "", 'topic');
    writer.compactString($value);
  }
  {
    const $value = required(message.partitions, none, 'partitions');
    writer.unsignedVarint($value.length + 1);
    for (let $index = 0; $index < $value.length; $index++) writeTopicsPartitions(writer, $value[$index]);
  }
  writer.unsignedVarint(0);
}

function readForgottenTopicsData(reader) {
  const topic = reader.string(reader.compactLength(), 'topic');
  const $partitionsCount = reader.count(reader.compactLength(), 4, 'partitions');
  const partitions = [];
  for (let $index = 0; $index < $partitionsCount; $index++) partitions.push(reader.int32());
  reader.skipTaggedFields();
  return { topic, topicId: "AAAAAAAAAAAAAAAAAAAAAA", partitions };
}

function writeForgottenTopicsData(writer, message) {
  {
    const $value = required(message.topic, "", 'topic');
    writer.compactString($value);
  }
  {
    const $value = required(message.partitions, none, 'partitions');
    writer.unsignedVarint($value.length + 1);
    for (let $index = 0; $index < $value.length; $index++) writer.int32($value[$index]);
  }
  writer.unsignedVarint(0);
}

function read(reader) {
  let clusterId = null;
  const replicaId = reader.int32();
  const maxWaitMs = reader.int32();
  const minBytes = reader.int32();
  const maxBytes = reader.int32();
  const isolationLevel = reader.int8();
  const sessionId = reader.int32();
  const sessionEpoch = reader.int32();
  const $topicsCount = reader.count(reader.compactLength(), 3, 'topics');
  const topics = [];
  for (let $index = 0; $index < $topicsCount; $index++) topics.push(readTopics(reader));
  const $forgottenTopicsDataCount = reader.count(reader.compactLength(), 3, 'forgottenTopicsData');
  const forgottenTopicsData = [];
  for (let $index = 0; $index < $forgottenTopicsDataCount; $index++) forgottenTopicsData.push(readForgottenTopicsData(reader));
  const rackId = reader.string(reader.compactLength(), 'rackId');
  for (let $left = reader.unsignedVarint(); $left > 0; $left--) {
    const $tag = reader.unsignedVarint();
    const $size = reader.unsignedVarint();
    const $end = reader.endOf($size);
    switch ($tag) {
      case 0: {
        clusterId = reader.nullableString(reader.compactLength(), 'clusterId');
        break;
      }
      default: reader.skip($size);
    }
    reader.ensureAt($end);
  }
  return { clusterId, replicaId, replicaState: defaultReplicaState(), maxWaitMs, minBytes, maxBytes, isolationLevel, sessionId, sessionEpoch, topics, forgottenTopicsData, rackId };
}

function write(writer, message) {
  if (!(message.replicaState === undefined || isDefaultReplicaState(message.replicaState))) unsupported('FetchRequest', 12, 'replicaState');
  writer.int32(message.replicaId ?? -1);
  writer.int32(message.maxWaitMs ?? 0);
  writer.int32(message.minBytes ?? 0);
  writer.int32(message.maxBytes ?? 2147483647);
  writer.int8(message.isolationLevel ?? 0);
  writer.int32(message.sessionId ?? 0);
  writer.int32(message.sessionEpoch ?? -1);
  {
    const $value = required(message.topics, none, 'topics');
    writer.unsignedVarint($value.length + 1);
    for (let $index = 0; $index < $value.length; $index++) writeTopics(writer, $value[$index]);
  }
  {
    const $value = required(message.forgottenTopicsData, none, 'forgottenTopicsData');
    writer.unsignedVarint($value.length + 1);
    for (let $index = 0; $index < $value.length; $index++) writeForgottenTopicsData(writer, $value[$index]);
  }
  {
    const $value = required(message.rackId, "", 'rackId');
    writer.compactString($value);
  }
  const $has0 = !(message.clusterId == null);
  writer.unsignedVarint(($has0 ? 1 : 0));
  if ($has0) {
    const $start = writer.openTagged(0);
    {
      const $value = message.clusterId ?? null;
      if ($value === null) writer.unsignedVarint(0);
      else {
        writer.compactString($value);
      }
    }
    writer.closeTagged($start);
  }
}

return { read, write };
//# sourceURL=codec/fetch-request-v12.js
