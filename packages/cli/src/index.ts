// The public face of the package `odradek`: a broker inside another program, as a test or an application embeds it.

export { type Broker, type BrokerOptions, startBroker } from '@odradek/broker';
