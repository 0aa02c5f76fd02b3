'use strict';
const { emptyBuffer, none, required, unsupported, unknownTaggedFieldsBelow } = support;

function readOwnedPartitions(reader) {
  const topic = reader.string(reader.int16(), 'topic');
  const $partitionsCount = reader.count(reader.int32(), 4, 'partitions');
  const partitions = [];
  for (let $index = 0; $index < $partitionsCount; $index++) partitions.push(reader.int32());
  return { topic, partitions };
}

function writeOwnedPartitions(writer, message) {
  {
    const $value = required(message.topic, "", 'topic');
    writer.string($value);
  }
  {
    const $value = required(message.partitions, none, 'partitions');
    writer.int32($value.length);
    for (let $index = 0; $index < $value.length; $index++) writer.int32($value[$index]);
  }
}

function read(reader) {
  const $topicsCount = reader.count(reader.int32(), 2, 'topics');
  const topics = [];
  for (let $index = 0; $index < $topicsCount; $index++) topics.push(reader.string(reader.int16(), 'topics'));
  const userData = reader.nullableBytes(reader.int32(), 'userData');
  const $ownedPartitionsCount = reader.count(reader.int32(), 6, 'ownedPartitions');
  const ownedPartitions = [];
  for (let $index = 0; $index < $ownedPartitionsCount; $index++) ownedPartitions.push(readOwnedPartitions(reader));
  const generationId = reader.int32();
  const rackId = reader.nullableString(reader.int16(), 'rackId');
  return { topics, userData, ownedPartitions, generationId, rackId };
}

function write(writer, message) {
  {
    const $value = required(message.topics, none, 'topics');
    writer.int32($value.length);
    for (let $index = 0; $index < $value.length; $index++) writer.string($value[$index]);
  }
  {
    const $value = message.userData ?? null;
    if ($value === null) writer.int32(-1);
    else {
      writer.bytes($value);
    }
  }
  {
    const $value = required(message.ownedPartitions, none, 'ownedPartitions');
    writer.int32($value.length);
    for (let $index = 0; $index < $value.length; $index++) writeOwnedPartitions(writer, $value[$index]);
  }
  writer.int32(message.generationId ?? -1);
  {
    const $value = message.rackId ?? null;
    if ($value === null) writer.int16(-1);
    else {
      writer.string($value);
    }
  }
}

return { read, write };
//# sourceURL=codec/consumer-protocol-subscription-v3.js
