// zookeeper.ssl.*: how ZooKeeper is reached over TLS.

import type { FileSystem, TlsConnectorOptions } from '@odradek/runtime';
import type { BrokerSettingName, BrokerSettingValue } from './broker-settings.ts';

type Get = <K extends BrokerSettingName>(name: K) => BrokerSettingValue<K>;
type StoreFormat = 'JKS' | 'PKCS12' | 'PEM';
type TlsVersion = NonNullable<TlsConnectorOptions['oldestVersion']>;

/** From the oldest to the newest. */
const versions: readonly TlsVersion[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];

/** A sentence for each setting that this broker cannot do justice to. */
export function zookeeperTlsProblems(get: Get): (string | undefined)[] {
  if (!get('zookeeper.ssl.client.enable')) return [];
  const unknown = protocolsOf(get).filter((protocol) => !versions.some((version) => version === protocol));
  return [
    storeProblem('zookeeper.ssl.keystore', get('zookeeper.ssl.keystore.location'), get('zookeeper.ssl.keystore.type'), [
      'PEM',
      'PKCS12',
    ]),
    storeProblem('zookeeper.ssl.truststore', get('zookeeper.ssl.truststore.location'), get('zookeeper.ssl.truststore.type'), [
      'PEM',
    ]),
    unknown.length > 0
      ? `zookeeper.ssl.enabled.protocols has ${unknown.join(' and ')}; known are ${versions.join(', ')}`
      : undefined,
    ...(['zookeeper.ssl.crl.enable', 'zookeeper.ssl.ocsp.enable'] as const).map((name) =>
      get(name) ? `${name} is true, but Odradek does not look for revoked certificates` : undefined,
    ),
  ];
}

/** Reads the files that the settings name. */
export function zookeeperTls(get: Get, fileSystem: FileSystem): TlsConnectorOptions {
  const keyStore = get('zookeeper.ssl.keystore.location');
  const trustStore = get('zookeeper.ssl.truststore.location');
  const password = get('zookeeper.ssl.keystore.password');
  const ciphers = get('zookeeper.ssl.cipher.suites');
  const offered = versions.filter((version) => protocolsOf(get).includes(version));
  const read = (path: string): Buffer => fileSystem.readFileSync(path);
  return {
    ...(keyStore === null ? {} : keyOf(read(keyStore), formatOf(keyStore, get('zookeeper.ssl.keystore.type')))),
    ...(password === null ? {} : { password }),
    ...(trustStore === null ? {} : { trusted: read(trustStore) }),
    ...(ciphers === null || ciphers.length === 0 ? {} : { ciphers: ciphers.join(':') }),
    oldestVersion: offered[0]!,
    newestVersion: offered.at(-1)!,
    verifiesHost: get('zookeeper.ssl.endpoint.identification.algorithm').toUpperCase() === 'HTTPS',
  };
}

function protocolsOf(get: Get): readonly string[] {
  const enabled = get('zookeeper.ssl.enabled.protocols');
  return enabled === null || enabled.length === 0 ? [get('zookeeper.ssl.protocol')] : enabled;
}

/** A PEM file holds both, and each reader takes what is its own. */
function keyOf(content: Buffer, format: StoreFormat): TlsConnectorOptions {
  return format === 'PEM' ? { certificate: content, key: content } : { keyStore: content };
}

function formatOf(path: string, type: string | null): StoreFormat {
  if (type !== null) return type.toUpperCase() as StoreFormat;
  if (/\.pem$/i.test(path)) return 'PEM';
  return /\.(p12|pfx)$/i.test(path) ? 'PKCS12' : 'JKS';
}

function storeProblem(
  setting: string,
  path: string | null,
  type: string | null,
  readable: readonly StoreFormat[],
): string | undefined {
  if (path === null) return undefined;
  const format = formatOf(path, type);
  return readable.includes(format)
    ? undefined
    : `${setting}.location is a file of type ${format}, ${path}; Odradek reads ${readable.join(' and ')} there (set ${setting}.type if that is what it is)`;
}
