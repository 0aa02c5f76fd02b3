// Listeners as they stand in a configuration: `NAME://host:port`, and the security protocol that each name stands for.

import { ConfigError } from '@odradek/runtime';

export type SecurityProtocol = 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL';

export interface ListenerAddress {
  /** In upper case. */
  readonly name: string;
  readonly securityProtocol: SecurityProtocol;
  /** Without the brackets of an IPv6 address. Empty: every interface, or, where it is advertised, the machine's name. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

const securityProtocols: readonly SecurityProtocol[] = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'];

/** Reads listener.security.protocol.map: listener names in upper case to protocols. */
export function parseProtocolMap(text: string): Map<string, SecurityProtocol> {
  const protocols = new Map<string, SecurityProtocol>();
  for (const entry of text.split(',')) {
    const [, name, protocol] = /^\s*([^:]+?)\s*:\s*(\S+)\s*$/.exec(entry) ?? [];
    if (name === undefined || protocol === undefined) {
      throw new ConfigError(`listener.security.protocol.map must list NAME:PROTOCOL, but an entry is: ${entry.trim()}`);
    }
    const known = securityProtocols.find((each) => each === protocol.toUpperCase());
    if (known === undefined) {
      throw new ConfigError(`listener.security.protocol.map: ${protocol} is none of ${securityProtocols.join(', ')}`);
    }
    if (protocols.has(name.toUpperCase())) {
      throw new ConfigError(`listener.security.protocol.map: the listener ${name} occurs more than once`);
    }
    protocols.set(name.toUpperCase(), known);
  }
  return protocols;
}

/**
 * Reads a value of `listeners` or `advertised.listeners`. Of two listeners with one port, one must be bound to an IPv4 and the
 * other to an IPv6 address; what is only advertised may share ports.
 */
export function parseListeners(
  setting: 'listeners' | 'advertised.listeners',
  entries: readonly string[],
  protocols: ReadonlyMap<string, SecurityProtocol>,
): ListenerAddress[] {
  const endpoints = entries.map((entry) => parseListener(setting, entry, protocols));
  const twice = endpoints.find(({ name }, index) => endpoints.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined)
    throw new ConfigError(`${setting}: each listener must have a different name, but ${twice.name} occurs twice`);
  if (setting === 'listeners') checkPorts(endpoints);
  return endpoints;
}

function parseListener(setting: string, entry: string, protocols: ReadonlyMap<string, SecurityProtocol>): ListenerAddress {
  const [, written, bracketed, plain, digits] =
    /^([^:/]+):\/\/(?:\[([0-9a-zA-Z%._:-]*)\]|([0-9a-zA-Z%._:-]*)):(\d+)$/.exec(entry) ?? [];
  if (written === undefined) throw new ConfigError(`${setting} must list NAME://host:port, but an entry is: ${entry}`);
  const port = Number(digits);
  if (port > 65535) throw new ConfigError(`${setting}: ${port} in ${entry} is not a port`);
  const name = written.toUpperCase();
  const securityProtocol = protocols.get(name);
  if (securityProtocol === undefined) {
    throw new ConfigError(`${setting}: the listener ${name} has no security protocol in listener.security.protocol.map`);
  }
  return { name, securityProtocol, host: bracketed ?? plain ?? '', port };
}

/** As it stands in a configuration. */
export function printListener({ name, host, port }: ListenerAddress): string {
  return `${name}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function checkPorts(endpoints: readonly ListenerAddress[]): void {
  for (const endpoint of endpoints) {
    // Port 0 is a different one each time.
    const sharing = endpoint.port === 0 ? [] : endpoints.filter(({ port }) => port === endpoint.port);
    if (sharing.length < 2) continue;
    const isPair = sharing.length === 2 && sharing.some(({ host }) => isIPv4(host)) && sharing.some(({ host }) => isIPv6(host));
    if (!isPair) {
      throw new ConfigError(
        `listeners: each listener must have a different port, but several have ${endpoint.port}; only an IPv4 and an IPv6 address can share one`,
      );
    }
  }
}

function isIPv4(host: string): boolean {
  return /^\d+(\.\d+){3}$/.test(host);
}

function isIPv6(host: string): boolean {
  return host.includes(':');
}
