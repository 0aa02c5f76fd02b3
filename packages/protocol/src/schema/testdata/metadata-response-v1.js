'use strict';
const { emptyBuffer, none, required, unsupported, unknownTaggedFieldsBelow } = support;

function readBrokers(reader) {
  const nodeId = reader.int32();
  const host = reader.string(reader.int16(), 'host');
  const port = reader.int32();
  const rack = reader.nullableString(reader.int16(), 'rack');
  return { nodeId, host, port, rack };
}

function writeBrokers(writer, message) {
  writer.int32(message.nodeId ?? 0);
  {
    const $value = required(message.host, "", 'host');
    writer.string($value);
  }
  writer.int32(message.port ?? 0);
  {
    const $value = message.rack ?? null;
    if ($value === null) writer.int16(-1);
    else {
      writer.string($value);
    }
  }
}

function readTopicsPartitions(reader) {
  const errorCode = reader.int16();
  const partitionIndex = reader.int32();
  const leaderId = reader.int32();
  const $replicaNodesCount = reader.count(reader.int32(), 4, 'replicaNodes');
  const replicaNodes = [];
  for (let $index = 0; $index < $replicaNodesCount; $index++) replicaNodes.push(reader.int32());
  const $isrNodesCount = reader.count(reader.int32(), 4, 'isrNodes');
  const isrNodes = [];
  for (let $index = 0; $index < $isrNodesCount; $index++) isrNodes.push(reader.int32());
  return { errorCode, partitionIndex, leaderId, leaderEpoch: -1, replicaNodes, isrNodes, offlineReplicas: [] };
}

function writeTopicsPartitions(writer, message) {
  writer.int16(message.errorCode ?? 0);
  writer.int32(message.partitionIndex ?? 0);
  writer.int32(message.leaderId ?? 0);
  {
    const $value = required(message.replicaNodes, none, 'replicaNodes');
    writer.int32($value.length);
    for (let $index = 0; $index < $value.length; $index++) writer.int32($value[$index]);
  }
  {
    const $value = required(message.isrNodes, none, 'isrNodes');
    writer.int32($value.length);
    for (let $index = 0; $index < $value.length; $index++) writer.int32($value[$index]);
  }
}

function readTopics(reader) {
  const errorCode = reader.int16();
  const name = reader.string(reader.int16(), 'name');
  const isInternal = reader.bool();
  const $partitionsCount = reader.count(reader.int32(), 18, 'partitions');
  const partitions = [];
  for (let $index = 0; $index < $partitionsCount; $index++) partitions.push(readTopicsPartitions(reader));
  return { errorCode, name, topicId: "AAAAAAAAAAAAAAAAAAAAAA", isInternal, partitions, topicAuthorizedOperations: -2147483648 };
}

function writeTopics(writer, message) {
  if (!(message.topicAuthorizedOperations === undefined || message.topicAuthorizedOperations === -2147483648)) unsupported('MetadataResponse', 1, 'topicAuthorizedOperations');
  writer.int16(message.errorCode ?? 0);
  {
    const $value = required(message.name, "", 'name');
    writer.string($value);
  }
  writer.bool(message.isInternal ?? false);
  {
    const $value = required(message.partitions, none, 'partitions');
    writer.int32($value.length);
    for (let $index = 0; $index < $value.length; $index++) writeTopicsPartitions(writer, $value[$index]);
  }
}

function read(reader) {
  const $brokersCount = reader.count(reader.int32(), 12, 'brokers');
  const brokers = [];
  for (let $index = 0; $index < $brokersCount; $index++) brokers.push(readBrokers(reader));
  const controllerId = reader.int32();
  const $topicsCount = reader.count(reader.int32(), 9, 'topics');
  const topics = [];
  for (let $index = 0; $index < $topicsCount; $index++) topics.push(readTopics(reader));
  return { throttleTimeMs: 0, brokers, clusterId: null, controllerId, topics, clusterAuthorizedOperations: -2147483648, errorCode: 0 };
}

function write(writer, message) {
  if (!(message.clusterAuthorizedOperations === undefined || message.clusterAuthorizedOperations === -2147483648)) unsupported('MetadataResponse', 1, 'clusterAuthorizedOperations');
  {
    const $value = required(message.brokers, none, 'brokers');
    writer.int32($value.length);
    for (let $index = 0; $index < $value.length; $index++) writeBrokers(writer, $value[$index]);
  }
  writer.int32(message.controllerId ?? -1);
  {
    const $value = required(message.topics, none, 'topics');
    writer.int32($value.length);
    for (let $index = 0; $index < $value.length; $index++) writeTopics(writer, $value[$index]);
  }
}

return { read, write };
//# sourceURL=codec/metadata-response-v1.js
