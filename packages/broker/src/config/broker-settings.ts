// Every setting of a broker, under its name.

import type { SettingName, SettingValue } from '@odradek/runtime';
import { authorizerSettings } from './authorizer-settings.ts';
import { groupSettings } from './group-settings.ts';
import { kraftSettings } from './kraft-settings.ts';
import { logSettings } from './log-settings.ts';
import { networkSettings } from './network-settings.ts';
import { odradekSettings } from './odradek-settings.ts';
import { quotaSettings } from './quota-settings.ts';
import { remoteLogSettings } from './remote-log-settings.ts';
import { replicationSettings } from './replication-settings.ts';
import { saslSettings } from './sasl-settings.ts';
import { securitySettings } from './security-settings.ts';
import { serverSettings } from './server-settings.ts';
import { shareGroupSettings } from './share-group-settings.ts';
import { sslSettings } from './ssl-settings.ts';
import { streamsGroupSettings } from './streams-group-settings.ts';
import { transactionSettings } from './transaction-settings.ts';
import { zookeeperSettings } from './zookeeper-settings.ts';

export const brokerSettings = {
  ...serverSettings,
  ...networkSettings,
  ...logSettings,
  ...remoteLogSettings,
  ...replicationSettings,
  ...groupSettings,
  ...shareGroupSettings,
  ...streamsGroupSettings,
  ...transactionSettings,
  ...quotaSettings,
  ...securitySettings,
  ...authorizerSettings,
  ...sslSettings,
  ...saslSettings,
  ...zookeeperSettings,
  ...kraftSettings,
  ...odradekSettings,
};

export type BrokerSettings = typeof brokerSettings;
export type BrokerSettingName = SettingName<BrokerSettings>;
export type BrokerSettingValue<K extends BrokerSettingName> = SettingValue<BrokerSettings, K>;
