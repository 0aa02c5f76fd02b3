// TLS. The names are Java's where Kafka's are. This build has no TLS listeners yet: the settings are known and checked, and an SSL or SASL_SSL listener stops the start.

import { boolean, className, distinct, list, oneOf, password, string } from '@odradek/runtime';

export const sslSettings = {
  'ssl.protocol': string('TLSv1.3', { update: 'per-broker', doc: 'The newest TLS version offered.' }),
  'ssl.enabled.protocols': list('TLSv1.2,TLSv1.3', {
    valid: distinct({ mayBeEmpty: true }),
    update: 'per-broker',
    doc: 'The TLS versions offered.',
  }),
  'ssl.provider': string(null, {
    update: 'per-broker',
    doc: "The Java security provider. It has no effect in Odradek, which uses Node.js's OpenSSL.",
  }),
  'ssl.cipher.suites': list('', {
    valid: distinct({ mayBeEmpty: true }),
    update: 'per-broker',
    doc: "The cipher suites offered; empty means the platform's.",
  }),
  'ssl.keystore.type': string('JKS', { update: 'per-broker', doc: 'The format of the key store: JKS, PKCS12 or PEM.' }),
  'ssl.keystore.location': string(null, { update: 'per-broker', doc: "The file with the broker's key and certificate." }),
  'ssl.keystore.password': password(null, { update: 'per-broker', doc: 'The password of that file.' }),
  'ssl.keystore.key': password(null, { update: 'per-broker', doc: "The broker's private key itself, as PEM text." }),
  'ssl.keystore.certificate.chain': password(null, {
    update: 'per-broker',
    doc: "The broker's certificates themselves, as PEM text.",
  }),
  'ssl.key.password': password(null, { update: 'per-broker', doc: 'The password of the private key.' }),
  'ssl.truststore.type': string('JKS', { update: 'per-broker', doc: 'The format of the trust store: JKS, PKCS12 or PEM.' }),
  'ssl.truststore.location': string(null, { update: 'per-broker', doc: 'The file with the certificates that are trusted.' }),
  'ssl.truststore.password': password(null, { update: 'per-broker', doc: 'The password of that file.' }),
  'ssl.truststore.certificates': password(null, {
    update: 'per-broker',
    doc: 'The certificates that are trusted themselves, as PEM text.',
  }),
  'ssl.keymanager.algorithm': string('SunX509', {
    update: 'per-broker',
    doc: "Java's algorithm for keys. It has no effect in Odradek.",
  }),
  'ssl.trustmanager.algorithm': string('PKIX', {
    update: 'per-broker',
    doc: "Java's algorithm for trust. It has no effect in Odradek.",
  }),
  'ssl.endpoint.identification.algorithm': string('https', {
    importance: 'LOW',
    update: 'per-broker',
    doc: 'How a client checks that the certificate belongs to the host: https, or empty for no check.',
  }),
  'ssl.secure.random.implementation': string(null, {
    importance: 'LOW',
    update: 'per-broker',
    doc: "Java's source of random numbers. It has no effect in Odradek.",
  }),
  'ssl.client.auth': string('none', {
    valid: oneOf('required', 'requested', 'none'),
    update: 'per-broker',
    doc: 'Whether clients must show a certificate: required, requested or none.',
  }),
  'ssl.engine.factory.class': className(null, {
    importance: 'LOW',
    update: 'per-broker',
    doc: 'A Java class that makes TLS engines. It has no effect in Odradek.',
  }),
  'ssl.principal.mapping.rules': string('DEFAULT', {
    importance: 'LOW',
    doc: "Rules that turn the name in a client's certificate into a principal; the first that fits counts.",
  }),
  'ssl.allow.dn.changes': boolean(false, {
    importance: 'LOW',
    doc: 'Whether a new key store may carry another distinguished name.',
  }),
  'ssl.allow.san.changes': boolean(false, { importance: 'LOW', doc: 'Whether a new key store may carry other alternative names.' }),
};
