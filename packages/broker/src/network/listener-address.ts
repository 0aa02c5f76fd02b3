// `listeners` and `advertised.listeners`: NAME://host:port, and which security protocol a name stands for.

import { ConfigError } from '@odradek/runtime';

export type SecurityProtocol = 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL';

/** Kafka's numbers, as used in UpdateMetadata. */
export const securityProtocolIds: Readonly<Record<SecurityProtocol, number>> = { PLAINTEXT: 0, SSL: 1, SASL_PLAINTEXT: 2, SASL_SSL: 3 };

export interface ListenerAddress {
  readonly name: string;
  /** Empty: every interface. */
  readonly host: string;
  readonly port: number;
  readonly securityProtocol: SecurityProtocol;
}

/** Reads one of the two lists. `setting` is its name, for the message of a ConfigError. */
export function parseListeners(
  setting: string,
  entries: readonly string[],
  protocolMap: ReadonlyMap<string, SecurityProtocol>,
): ListenerAddress[] {
  const listeners: ListenerAddress[] = [];
  for (const entry of entries) {
    const match = /^([A-Za-z0-9_.-]+):\/\/(?:\[([^\]]*)\]|([^:[\]]*)):(-?\d+)$/.exec(entry.trim());
    if (match === null) throw new ConfigError(`Invalid value ${entry} for configuration ${setting}: not of the form NAME://host:port`);
    const name = (match[1] ?? '').toUpperCase();
    const host = match[2] ?? match[3] ?? '';
    const port = Number(match[4]);
    if (port < 0 || port > 65535) throw new ConfigError(`Invalid value ${entry} for configuration ${setting}: ${port} is not a port`);
    const securityProtocol = protocolMap.get(name);
    if (securityProtocol === undefined) {
      throw new ConfigError(`No security protocol is defined for listener ${name}: name it in listener.security.protocol.map`);
    }
    if (listeners.some((other) => other.name === name)) {
      throw new ConfigError(`Invalid value ${entries.join(',')} for configuration ${setting}: each listener must have a different name`);
    }
    listeners.push({ name, host, port, securityProtocol });
  }
  return listeners;
}

/** Reads `listener.security.protocol.map`: NAME:PROTOCOL pairs. */
export function parseProtocolMap(entries: readonly string[]): Map<string, SecurityProtocol> {
  const map = new Map<string, SecurityProtocol>();
  for (const entry of entries) {
    const split = entry.lastIndexOf(':');
    const protocol = entry.slice(split + 1).trim().toUpperCase();
    if (split <= 0 || !isSecurityProtocol(protocol)) {
      throw new ConfigError(`Invalid value ${entry} for configuration listener.security.protocol.map: not of the form NAME:PROTOCOL`);
    }
    map.set(entry.slice(0, split).trim().toUpperCase(), protocol);
  }
  return map;
}

function isSecurityProtocol(text: string): text is SecurityProtocol {
  return Object.hasOwn(securityProtocolIds, text);
}
