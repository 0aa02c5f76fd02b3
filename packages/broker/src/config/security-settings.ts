// Who may do what, and what brokers use among themselves; delegation tokens.

import { atLeast, className, int, long, nonNullString, oneOf, password, string } from '@odradek/runtime';

export const securitySettings = {
  'authorizer.class.name': string('', {
    importance: 'LOW',
    valid: nonNullString,
    doc: "The authorizer: Kafka's own are known by name. Empty: everybody may do everything.",
  }),
  'principal.builder.class': className('org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder', {
    update: 'per-broker',
    doc: "The Java class that names the principal of a connection. Odradek follows the rules of Kafka's default one and refuses to start with another.",
  }),
  'security.inter.broker.protocol': string('PLAINTEXT', {
    valid: oneOf('PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'),
    doc: 'The protocol brokers use among themselves. Not together with inter.broker.listener.name.',
  }),
  'security.providers': string(null, {
    importance: 'LOW',
    doc: 'Java security providers. There are none in Odradek; the value has no effect.',
  }),
  'delegation.token.master.key': password(null, { doc: 'The older name of delegation.token.secret.key.' }),
  'delegation.token.secret.key': password(null, {
    doc: 'The secret that delegation tokens are signed with; the same on all brokers. Unset: no tokens.',
  }),
  'delegation.token.max.lifetime.ms': long(604800000, { valid: atLeast(1), doc: 'How long a token can be renewed, in all.' }),
  'delegation.token.expiry.time.ms': long(86400000, {
    valid: atLeast(1),
    doc: 'How long a token is good before it must be renewed.',
  }),
  'delegation.token.expiry.check.interval.ms': long(3600000, {
    importance: 'LOW',
    valid: atLeast(1),
    doc: 'How often expired tokens are looked for.',
  }),
  'password.encoder.secret': password(null, {
    doc: 'The secret that encrypts passwords in dynamic configurations stored in ZooKeeper.',
  }),
  'password.encoder.old.secret': password(null, { doc: 'The secret in use before, to read passwords that it encrypted.' }),
  'password.encoder.keyfactory.algorithm': string(null, {
    importance: 'LOW',
    doc: 'How a key is made from that secret, by its Java name.',
  }),
  'password.encoder.cipher.algorithm': string('AES/CBC/PKCS5Padding', {
    importance: 'LOW',
    doc: 'The cipher for those passwords, by its Java name.',
  }),
  'password.encoder.key.length': int(128, { importance: 'LOW', valid: atLeast(8), doc: 'The length of the key, in bits.' }),
  'password.encoder.iterations': int(4096, { importance: 'LOW', valid: atLeast(1024), doc: 'How many rounds go into the key.' }),
};
