// The limits on connections and requests, from the configuration.

import type { BrokerConfig } from '../broker-config.ts';
import type { ListenerLimits } from './connection-admission.ts';
import type { SocketServerLimits } from './socket-server.ts';

export function socketServerLimits(config: BrokerConfig): SocketServerLimits {
  return {
    maxRequestBytes: config.get('socket.request.max.bytes'),
    maxQueuedRequestBytes: config.get('queued.max.request.bytes'),
    maxConnections: config.get('max.connections'),
    maxConnectionsPerIp: config.get('max.connections.per.ip'),
    maxConnectionsPerIpOverrides: parseOverrides(config.get('max.connections.per.ip.overrides')),
    maxCreationRate: config.get('max.connection.creation.rate'),
    creationBurstSeconds: (config.get('quota.window.num') - 1) * config.get('quota.window.size.seconds'),
    ofListener: (name) => listenerLimits(config, name),
    maxIdleMs: config.get('connections.max.idle.ms'),
    backlog: config.get('socket.listen.backlog.size'),
  };
}

/** Only what is set for the listener by its name: the broker's own limits are for all listeners together. */
function listenerLimits(config: BrokerConfig, listener: string): Partial<ListenerLimits> {
  const maxConnections = config.ofListenerAlone(listener, 'max.connections');
  const maxCreationRate = config.ofListenerAlone(listener, 'max.connection.creation.rate');
  return {
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(maxCreationRate === undefined ? {} : { maxCreationRate }),
  };
}

/** `host:count` with commas between. An entry that makes no sense sets no limit of its own; the configuration was checked before. */
function parseOverrides(text: string): Map<string, number> {
  const overrides = new Map<string, number>();
  for (const entry of text.split(',')) {
    const split = entry.lastIndexOf(':');
    const count = Number(entry.slice(split + 1));
    if (split > 0 && Number.isInteger(count)) overrides.set(entry.slice(0, split).trim(), count);
  }
  return overrides;
}
