// Who this broker is for ZooKeeper: a name and password for SASL, or a certificate (zookeeper-tls.ts), or nobody.

import type { SaslCredentials } from '@odradek/coordination';
import type { BrokerSettingName, BrokerSettingValue } from './broker-settings.ts';

type Get = <K extends BrokerSettingName>(name: K) => BrokerSettingValue<K>;

const setting = 'odradek.zookeeper.sasl.jaas.config';

export function zookeeperIdentityProblems(get: Get): (string | undefined)[] {
  const text = get(setting);
  const hasCertificate = get('zookeeper.ssl.client.enable') && get('zookeeper.ssl.keystore.location') !== null;
  return [
    text !== null && parseJaas(text) === undefined
      ? `${setting} must read: org.apache.zookeeper.server.auth.DigestLoginModule required username="…" password="…";`
      : undefined,
    get('zookeeper.set.acl') && get('zookeeper.connect') !== null && text === null && !hasCertificate
      ? `zookeeper.set.acl is true, but the broker proves no name to ZooKeeper that could own nodes: set ${setting}, or zookeeper.ssl.client.enable and zookeeper.ssl.keystore.location`
      : undefined,
  ];
}

/** What the store is told about it. */
export function zookeeperIdentity(get: Get): { readonly sasl?: SaslCredentials } {
  const text = get(setting);
  const sasl = text === null ? undefined : parseJaas(text);
  return sasl === undefined ? {} : { sasl };
}

function parseJaas(text: string): SaslCredentials | undefined {
  const [, options] = /^\s*(?:[\w.]+\.)?DigestLoginModule\s+required\s+(.*?)\s*;\s*$/s.exec(text) ?? [];
  if (options === undefined) return undefined;
  const values = new Map<string, string>();
  for (const [, name, quoted, plain] of options.matchAll(/(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))/g)) {
    values.set(name!, quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
  }
  const username = values.get('username');
  const password = values.get('password');
  return username === undefined || password === undefined ? undefined : { username, password };
}
