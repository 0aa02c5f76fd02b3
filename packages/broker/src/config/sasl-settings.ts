// SASL. This build has no SASL listeners yet: the settings are known and checked, and a SASL listener stops the start.

import {
  between,
  boolean,
  className,
  distinct,
  double,
  int,
  list,
  long,
  oneOfIgnoringCase,
  password,
  short,
  string,
} from '@odradek/runtime';

export const saslSettings = {
  'sasl.enabled.mechanisms': list('GSSAPI', {
    valid: distinct({ mayBeEmpty: true }),
    update: 'per-broker',
    doc: 'The mechanisms offered to clients.',
  }),
  'sasl.mechanism.inter.broker.protocol': string('GSSAPI', {
    update: 'per-broker',
    doc: 'The mechanism brokers use among themselves.',
  }),
  'sasl.mechanism.controller.protocol': string('GSSAPI', {
    importance: 'HIGH',
    doc: 'The mechanism for a KRaft controller. It has no effect in Odradek.',
  }),
  'sasl.jaas.config': password(null, {
    update: 'per-broker',
    doc: "The login module and its options, in JAAS's form, for one listener and mechanism.",
  }),
  'sasl.login.class': className(null, { doc: 'A Java class for logging in. It has no effect in Odradek.' }),
  'sasl.login.callback.handler.class': className(null, {
    doc: "A Java class that answers a login's questions. It has no effect in Odradek.",
  }),
  'sasl.client.callback.handler.class': className(null, {
    doc: "A Java class that answers a client's questions. It has no effect in Odradek.",
  }),
  'sasl.server.callback.handler.class': className(null, {
    doc: "A Java class that answers a server's questions. It has no effect in Odradek.",
  }),
  'sasl.server.max.receive.size': int(524288, {
    doc: 'The largest SASL message accepted, in bytes, before a client has authenticated.',
  }),
  'sasl.kerberos.service.name': string(null, { update: 'per-broker', doc: 'The Kerberos name that brokers run under.' }),
  'sasl.kerberos.kinit.cmd': string('/usr/bin/kinit', {
    update: 'per-broker',
    doc: 'The path of kinit. It has no effect in Odradek, which has no Kerberos.',
  }),
  'sasl.kerberos.ticket.renew.window.factor': double(0.8, {
    update: 'per-broker',
    doc: 'When a Kerberos ticket is renewed, as a part of its life. It has no effect in Odradek.',
  }),
  'sasl.kerberos.ticket.renew.jitter': double(0.05, {
    update: 'per-broker',
    doc: 'How much that moment varies by chance. It has no effect in Odradek.',
  }),
  'sasl.kerberos.min.time.before.relogin': long(60000, {
    update: 'per-broker',
    doc: 'The shortest time between two logins with Kerberos. It has no effect in Odradek.',
  }),
  'sasl.kerberos.principal.to.local.rules': list('DEFAULT', {
    valid: distinct({ mayBeEmpty: true }),
    update: 'per-broker',
    doc: 'Rules that turn a Kerberos name into a short one. They have no effect in Odradek.',
  }),
  'sasl.login.refresh.window.factor': double(0.8, { update: 'per-broker', doc: 'When a token is renewed, as a part of its life.' }),
  'sasl.login.refresh.window.jitter': double(0.05, { update: 'per-broker', doc: 'How much that moment varies by chance.' }),
  'sasl.login.refresh.min.period.seconds': short(60, { update: 'per-broker', doc: 'The shortest time between two renewals.' }),
  'sasl.login.refresh.buffer.seconds': short(300, {
    update: 'per-broker',
    doc: 'How long before a token expires it is renewed at the latest.',
  }),
  'sasl.login.connect.timeout.ms': int(null, {
    importance: 'LOW',
    doc: 'How long a connection to the token server may take to open.',
  }),
  'sasl.login.read.timeout.ms': int(null, { importance: 'LOW', doc: 'How long the token server may take to answer.' }),
  'sasl.login.retry.backoff.ms': long(100, { importance: 'LOW', doc: 'How long a login waits before it is tried again at first.' }),
  'sasl.login.retry.backoff.max.ms': long(10000, { importance: 'LOW', doc: 'The longest such wait.' }),
  'sasl.oauthbearer.token.endpoint.url': string(null, { doc: 'Where tokens are asked for.' }),
  'sasl.oauthbearer.jwks.endpoint.url': string(null, { doc: 'Where the keys are that tokens are signed with.' }),
  'sasl.oauthbearer.jwks.endpoint.refresh.ms': long(3600000, { importance: 'LOW', doc: 'How often those keys are fetched again.' }),
  'sasl.oauthbearer.jwks.endpoint.retry.backoff.ms': long(100, {
    importance: 'LOW',
    doc: 'How long a failed fetch of the keys waits at first.',
  }),
  'sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms': long(10000, { importance: 'LOW', doc: 'The longest such wait.' }),
  'sasl.oauthbearer.clock.skew.seconds': int(30, {
    importance: 'LOW',
    doc: "By how much the clocks of the token's issuer and of the broker may differ.",
  }),
  'sasl.oauthbearer.expected.audience': list('', {
    importance: 'HIGH',
    valid: distinct({ mayBeEmpty: true }),
    doc: 'The audiences one of which a token must name.',
  }),
  'sasl.oauthbearer.expected.issuer': string(null, { importance: 'HIGH', doc: 'The issuer a token must name.' }),
  'sasl.oauthbearer.allow.unverified.audience': boolean(false, {
    doc: 'Whether a token is accepted when no expected audience is set.',
  }),
  'sasl.oauthbearer.allow.unverified.issuer': boolean(false, {
    doc: 'Whether a token is accepted when no expected issuer is set.',
  }),
  'sasl.oauthbearer.scope': string(null, { doc: 'The scope that is asked for with a token.' }),
  'sasl.oauthbearer.scope.claim.name': string('scope', { importance: 'LOW', doc: "The claim that holds a token's scope." }),
  'sasl.oauthbearer.sub.claim.name': string('sub', { importance: 'LOW', doc: "The claim that holds the principal's name." }),
  'sasl.oauthbearer.jwt.retriever.class': className('org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever', {
    doc: 'The Java class that fetches tokens. It has no effect in Odradek.',
  }),
  'sasl.oauthbearer.jwt.validator.class': className('org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator', {
    doc: 'The Java class that checks tokens. It has no effect in Odradek.',
  }),
  'sasl.oauthbearer.client.credentials.client.id': string(null, {
    doc: "The client's id, where it asks for a token with its own credentials.",
  }),
  'sasl.oauthbearer.client.credentials.client.secret': password(null, {
    doc: "The client's secret, where it asks for a token with its own credentials.",
  }),
  'sasl.oauthbearer.assertion.algorithm': string('RS256', {
    valid: oneOfIgnoringCase('ES256', 'RS256'),
    doc: 'How an assertion is signed.',
  }),
  'sasl.oauthbearer.assertion.claim.aud': string(null, { doc: 'The audience an assertion names.' }),
  'sasl.oauthbearer.assertion.claim.exp.seconds': int(300, {
    importance: 'LOW',
    valid: between(0, 86400),
    doc: 'How long an assertion is good.',
  }),
  'sasl.oauthbearer.assertion.claim.iss': string(null, { doc: 'The issuer an assertion names.' }),
  'sasl.oauthbearer.assertion.claim.jti.include': boolean(false, { doc: 'Whether each assertion gets an id of its own.' }),
  'sasl.oauthbearer.assertion.claim.nbf.seconds': int(60, {
    importance: 'LOW',
    valid: between(0, 3600),
    doc: 'How long before its making an assertion is already good, against differing clocks.',
  }),
  'sasl.oauthbearer.assertion.claim.sub': string(null, { doc: 'The subject an assertion names.' }),
  'sasl.oauthbearer.assertion.file': string(null, { doc: 'A file with an assertion made elsewhere.' }),
  'sasl.oauthbearer.assertion.private.key.file': string(null, { doc: 'The file with the key that signs assertions.' }),
  'sasl.oauthbearer.assertion.private.key.passphrase': password(null, { doc: 'The passphrase of that key.' }),
  'sasl.oauthbearer.assertion.template.file': string(null, { doc: 'A file with further claims and headers for assertions.' }),
};
