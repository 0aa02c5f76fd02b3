// Listeners, sockets and the limits on connections and requests.

import { atLeast, distinct, int, list, long, maxInt, string } from '@odradek/runtime';

export const networkSettings = {
  listeners: list('PLAINTEXT://:9092', {
    importance: 'HIGH',
    valid: distinct({ mayBeEmpty: false }),
    update: 'per-broker',
    doc: 'The addresses the broker listens on, as NAME://host:port with commas between them. An empty host means every interface; a name that is no security protocol needs an entry in listener.security.protocol.map.',
  }),
  'advertised.listeners': list(null, {
    importance: 'HIGH',
    valid: distinct({ mayBeEmpty: false }),
    update: 'per-broker',
    doc: "The addresses that clients and other brokers are told to use, in the form of listeners. When unset, the listeners themselves; an empty host is then replaced by the machine's name.",
  }),
  'listener.security.protocol.map': string('SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT', {
    importance: 'LOW',
    update: 'per-broker',
    doc: 'Which security protocol each listener name stands for, as NAME:PROTOCOL with commas between them.',
  }),
  'inter.broker.listener.name': string(null, {
    doc: 'The name of the listener that brokers use among themselves. When unset, the one whose protocol is security.inter.broker.protocol.',
  }),
  'control.plane.listener.name': string(null, {
    importance: 'HIGH',
    doc: 'The name of a listener kept for requests from the controller. Odradek serves them on the inter-broker listener; the name must still be one of the listeners.',
  }),
  'early.start.listeners': list(null, {
    importance: 'HIGH',
    valid: distinct({ mayBeEmpty: true }),
    doc: 'Listeners that Kafka opens before the rest while an authorizer is still starting. Odradek opens all listeners together, so this has no effect.',
  }),
  'socket.send.buffer.bytes': int(102400, {
    importance: 'HIGH',
    doc: 'The size of the send buffer (SO_SNDBUF) of accepted connections. Node.js leaves buffers to the operating system, so this has no effect.',
  }),
  'socket.receive.buffer.bytes': int(102400, {
    importance: 'HIGH',
    doc: 'The size of the receive buffer (SO_RCVBUF) of accepted connections. Node.js leaves buffers to the operating system, so this has no effect.',
  }),
  'socket.request.max.bytes': int(104857600, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'The largest request accepted, in bytes. A connection that announces a larger one is closed.',
  }),
  'socket.listen.backlog.size': int(50, {
    valid: atLeast(1),
    doc: 'How many connections may wait to be accepted; the operating system may allow fewer.',
  }),
  'socket.connection.setup.timeout.ms': long(10000, {
    doc: 'How long the broker waits at first for a connection to another broker to open.',
  }),
  'socket.connection.setup.timeout.max.ms': long(30000, {
    doc: 'The longest wait for a connection to another broker to open, after several failures.',
  }),
  'connections.max.idle.ms': long(600000, {
    doc: 'After how many milliseconds without a request a connection is closed; a negative value lets it stay.',
  }),
  'connection.failed.authentication.delay.ms': int(100, {
    importance: 'LOW',
    valid: atLeast(0),
    doc: 'How long the broker waits before it closes a connection whose authentication failed.',
  }),
  'connections.max.reauth.ms': long(0, {
    doc: 'After how many milliseconds a client that authenticated with SASL must do so again; 0 never asks.',
  }),
  'max.connections': int(maxInt, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How many connections the broker accepts in all. With the limit reached, new ones wait, except on the inter-broker listener.',
  }),
  'max.connections.per.ip': int(maxInt, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How many connections one address may have; further ones are closed at once.',
  }),
  'max.connections.per.ip.overrides': string('', {
    update: 'cluster-wide',
    doc: 'Other limits for single addresses or host names, as host:count with commas between them.',
  }),
  'max.connection.creation.rate': int(maxInt, {
    valid: atLeast(0),
    update: 'cluster-wide',
    doc: 'How many connections a second are accepted; further ones are delayed.',
  }),
  'queued.max.requests': int(500, {
    importance: 'HIGH',
    valid: atLeast(1),
    doc: 'How many requests may wait to be processed before the network is read no further.',
  }),
  'queued.max.request.bytes': long(-1, {
    doc: 'How many bytes of requests may wait to be processed before the network is read no further; -1 sets no limit.',
  }),
  'max.request.partition.size.limit': int(2000, {
    valid: atLeast(1),
    doc: 'How many partitions one answer to a request for topic descriptions may hold.',
  }),
  'fetch.max.bytes': int(57671680, {
    valid: atLeast(1024),
    doc: 'The most bytes one fetch response carries, whatever the client asks for. A first batch that is larger is still sent.',
  }),
  'max.incremental.fetch.session.cache.slots': int(1000, {
    valid: atLeast(0),
    doc: 'How many incremental fetch sessions the broker remembers. Beyond that, older ones make room or fetches go on without a session.',
  }),
  'fetch.purgatory.purge.interval.requests': int(1000, {
    doc: 'How many completed requests Kafka lets gather in the purgatory of waiting fetches before it sweeps them out. Odradek removes them as they complete, so this has no effect.',
  }),
  'producer.purgatory.purge.interval.requests': int(1000, {
    doc: 'The same for waiting produce requests. It has no effect in Odradek.',
  }),
  'delete.records.purgatory.purge.interval.requests': int(1, {
    doc: 'The same for waiting requests to delete records. It has no effect in Odradek.',
  }),
  'share.fetch.purgatory.purge.interval.requests': int(1000, {
    doc: 'The same for waiting fetches of share groups. It has no effect in Odradek.',
  }),
};
