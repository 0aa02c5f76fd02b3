// The connection to a ZooKeeper ensemble. Without one, the broker keeps its coordination data in its own log directory.

import { atLeast, boolean, int, list, password, string } from '@odradek/runtime';

export const zookeeperSettings = {
  'zookeeper.connect': string(null, {
    importance: 'HIGH',
    doc: 'The ensemble, as host:port with commas between them, with an optional path at the end. Unset: a single broker with a store of its own.',
  }),
  'zookeeper.session.timeout.ms': int(18000, {
    importance: 'HIGH',
    doc: "After how long without a sign of life a broker's session ends and its partitions move.",
  }),
  'zookeeper.connection.timeout.ms': int(null, {
    importance: 'HIGH',
    doc: 'How long a connection to ZooKeeper may take to open. When unset, the session timeout counts.',
  }),
  'zookeeper.max.in.flight.requests': int(10, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many requests may be under way to ZooKeeper at a time.',
  }),
  'zookeeper.set.acl': boolean(false, { importance: 'HIGH', doc: 'Whether the nodes the broker creates get access lists.' }),
  'zookeeper.clientCnxnSocket': string(null, {
    doc: 'The Java class of the connection, which TLS needs in Kafka. The name has no effect in Odradek.',
  }),
  'zookeeper.metadata.migration.enable': boolean(false, {
    importance: 'HIGH',
    doc: 'Whether the cluster is being moved to KRaft. Odradek has no KRaft and refuses to start when this is true.',
  }),
  'zookeeper.metadata.migration.min.batch.size': int(200, {
    valid: atLeast(1),
    internal: true,
    doc: 'How many records such a move writes at a time. It has no effect in Odradek.',
  }),
  'zookeeper.ssl.client.enable': boolean(false, { doc: 'Whether ZooKeeper is reached over TLS.' }),
  'zookeeper.ssl.protocol': string('TLSv1.2', { importance: 'LOW', doc: 'The TLS version used.' }),
  'zookeeper.ssl.enabled.protocols': list(null, { importance: 'LOW', doc: 'The TLS versions offered.' }),
  'zookeeper.ssl.cipher.suites': list(null, { importance: 'LOW', doc: 'The cipher suites offered.' }),
  'zookeeper.ssl.keystore.location': string(null, { doc: "The file with the broker's key and certificate." }),
  'zookeeper.ssl.keystore.password': password(null, { doc: 'The password of that file.' }),
  'zookeeper.ssl.keystore.type': string(null, { doc: 'The format of that file, PKCS12 or PEM; unset goes by its ending.' }),
  'zookeeper.ssl.truststore.location': string(null, { doc: 'The file with the certificates that are trusted.' }),
  'zookeeper.ssl.truststore.password': password(null, { doc: 'The password of that file.' }),
  'zookeeper.ssl.truststore.type': string(null, { doc: 'The format of that file, which must be PEM; unset goes by its ending.' }),
  'zookeeper.ssl.endpoint.identification.algorithm': string('HTTPS', {
    importance: 'LOW',
    doc: 'Whether the certificate must belong to the host: HTTPS, or empty for no check.',
  }),
  'zookeeper.ssl.crl.enable': boolean(false, {
    importance: 'LOW',
    doc: 'Whether lists of revoked certificates are used. Odradek uses none and refuses to start when this is true.',
  }),
  'zookeeper.ssl.ocsp.enable': boolean(false, {
    importance: 'LOW',
    doc: 'Whether revoked certificates are asked for online. Odradek asks nobody and refuses to start when this is true.',
  }),
};
