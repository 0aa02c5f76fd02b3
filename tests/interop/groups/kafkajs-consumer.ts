// A consumer of a group with kafkajs: see group-consumer.ts for what it prints.
//
//   kafkajs-consumer.ts BOOTSTRAP GROUP TOPIC

import kafkajs from 'kafkajs';

const [bootstrap = '', groupId = '', topic = ''] = process.argv.slice(2);
const kafka = new kafkajs.Kafka({ brokers: [bootstrap], logLevel: kafkajs.logLevel.WARN, retry: { initialRetryTime: 50 } });
const consumer = kafka.consumer({
  groupId,
  sessionTimeout: 2000,
  heartbeatInterval: 200,
  rebalanceTimeout: 10_000,
  metadataMaxAge: 1000,
  maxWaitTimeInMs: 100,
});

let held: readonly number[] = [];
consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
  // kafkajs gives everything up at a rebalance.
  if (held.length > 0) console.log(['-', ...held].join(' '));
  held = payload.memberAssignment[topic] ?? [];
  console.log(['+', ...held].join(' '));
});
process.once('SIGTERM', () => void consumer.disconnect());
await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
await consumer.run({
  autoCommitThreshold: 1,
  eachMessage: ({ partition, message }) => {
    console.log(`${partition} ${message.offset} ${message.value?.toString()}`);
    return Promise.resolve();
  },
});
