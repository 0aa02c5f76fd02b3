// Odradek's own settings, which Kafka does not have.

import { atLeast, int, oneOf, password, string } from '@odradek/runtime';

export const odradekSettings = {
  'odradek.log.format': string('text', {
    valid: oneOf('text', 'json'),
    doc: "How the broker's own log is written: text for people, or json, an object a line, for machines.",
  }),
  'odradek.log.level': string('info', {
    valid: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal'),
    doc: "The least serious lines that go into the broker's own log. One part's level can be changed while it runs, as a broker logger.",
  }),
  'odradek.tail.cache.bytes': int(33554432, {
    valid: atLeast(0),
    doc: 'How many bytes of the newest records of all partitions stay in memory, so that readers who keep up cost no reads of the disk.',
  }),
  'odradek.max.open.files': int(4096, {
    valid: atLeast(64),
    doc: 'How many files of logs the broker keeps open at a time. The ones unused for longest are closed and opened again when needed.',
  }),
  'odradek.zookeeper.sasl.jaas.config': password(null, {
    doc: 'The name and password for ZooKeeper, as Kafka has them in section Client of its JAAS file: DigestLoginModule required username="…" password="…"; with the semicolon.',
  }),
};
