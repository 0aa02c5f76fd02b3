// A consumer of a group with @platformatic/kafka: see group-consumer.ts for what it prints.
//
//   platformatic-consumer.ts BOOTSTRAP GROUP TOPIC [classic|consumer]

import { Consumer, stringDeserializers } from '@platformatic/kafka';

const [bootstrap = '', groupId = '', topic = '', protocol = 'classic'] = process.argv.slice(2);
const consumer = new Consumer({
  clientId: 'platformatic',
  groupId,
  bootstrapBrokers: [bootstrap],
  deserializers: stringDeserializers,
  metadataMaxAge: 1000,
  ...(protocol === 'consumer'
    ? { groupProtocol: 'consumer' as const }
    : { sessionTimeout: 2000, heartbeatInterval: 200, rebalanceTimeout: 10_000 }),
});
const stream = await consumer.consume({
  topics: [topic],
  autocommit: false,
  mode: 'committed',
  fallbackMode: 'earliest',
  maxWaitTime: 100,
});
process.once('SIGTERM', () => {
  void stream.close().then(() => consumer.close(true));
});
for await (const message of stream) {
  console.log(`${message.partition} ${message.offset} ${message.value}`);
  try {
    await message.commit();
  } catch (error) {
    // The group has gone on without this consumer, which joins it again.
    console.error(String(error));
  }
}
