// The settings that Kafka's authorizer reads for itself: they are not among those of its broker.

import { boolean, string } from '@odradek/runtime';

export const authorizerSettings = {
  'super.users': string('', {
    importance: 'MEDIUM',
    doc: 'Who may do everything whatever the access lists say: principals like User:alice, with semicolons between them.',
  }),
  'allow.everyone.if.no.acl.found': boolean(false, {
    importance: 'MEDIUM',
    doc: 'Whether everybody may use what has no access list. Else only super users may.',
  }),
};

/** Kafka's authorizers, which this one stands for. */
export const authorizerClasses = [
  'kafka.security.authorizer.AclAuthorizer',
  'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
];
