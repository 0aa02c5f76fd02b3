import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, maxLong, parseProperties } from '@odradek/runtime';
import { BrokerConfig, builtInProperties } from './broker-config.ts';

function configOf(...lines: readonly string[]): BrokerConfig {
  return new BrokerConfig(parseProperties(lines.join('\n')));
}

const local = 'listeners=PLAINTEXT://127.0.0.1:9092';

test('without a file the broker listens on the loopback address and keeps its data in ./data', () => {
  const config = new BrokerConfig(builtInProperties);
  assert.equal(config.brokerId, 0);
  assert.deepEqual(config.listeners, [{ name: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: '127.0.0.1', port: 9092 }]);
  assert.deepEqual(config.advertisedListeners, config.listeners);
  assert.deepEqual(config.logDirs, ['./data']);
  assert.deepEqual(config.warnings, []);
});

test('an empty file gives Kafka’s defaults', () => {
  const config = configOf();
  assert.equal(config.brokerId, -1);
  assert.deepEqual(config.listeners, [{ name: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: '', port: 9092 }]);
  assert.deepEqual(config.logDirs, ['/tmp/kafka-logs']);
  assert.equal(config.get('log.segment.bytes'), 1073741824);
  assert.equal(config.get('log.retention.ms'), null);
  assert.equal(config.text('log.flush.interval.messages'), maxLong);
});

test('node.id and broker.id are one number', () => {
  assert.equal(configOf('node.id=7').brokerId, 7);
  assert.equal(configOf('broker.id=7').get('node.id'), 7);
  assert.equal(configOf('broker.id=7', 'node.id=7').brokerId, 7);
});

test('reads listeners', async (t) => {
  const plaintext = { securityProtocol: 'PLAINTEXT' } as const;
  const cases: readonly (readonly [string, readonly string[], BrokerConfig['listeners']])[] = [
    ['every interface', ['listeners=PLAINTEXT://:9092'], [{ name: 'PLAINTEXT', ...plaintext, host: '', port: 9092 }]],
    ['IPv6', ['listeners=PLAINTEXT://[::1]:0'], [{ name: 'PLAINTEXT', ...plaintext, host: '::1', port: 0 }]],
    [
      'names of their own, in any case',
      [
        'listeners=internal://a.b:1, EXTERNAL://c:2',
        'listener.security.protocol.map=INTERNAL:PLAINTEXT,external:plaintext',
        'inter.broker.listener.name=INTERNAL',
      ],
      [
        { name: 'INTERNAL', ...plaintext, host: 'a.b', port: 1 },
        { name: 'EXTERNAL', ...plaintext, host: 'c', port: 2 },
      ],
    ],
    [
      'IPv4 and IPv6 on one port',
      ['listeners=PLAINTEXT://127.0.0.1:9092,SIX://[::1]:9092', 'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SIX:PLAINTEXT'],
      [
        { name: 'PLAINTEXT', ...plaintext, host: '127.0.0.1', port: 9092 },
        { name: 'SIX', ...plaintext, host: '::1', port: 9092 },
      ],
    ],
  ];
  for (const [name, lines, listeners] of cases) {
    await t.test(name, () => assert.deepEqual(configOf(...lines).listeners, listeners));
  }
});

test('advertises other addresses than it listens on', () => {
  const config = configOf('listeners=PLAINTEXT://0.0.0.0:9092', 'advertised.listeners=PLAINTEXT://kafka.example:19092');
  assert.deepEqual(config.advertisedListeners, [
    { name: 'PLAINTEXT', securityProtocol: 'PLAINTEXT', host: 'kafka.example', port: 19092 },
  ]);
  assert.equal(config.interBrokerListenerName, 'PLAINTEXT');
});

test('a bad value stops the start with one line that names the setting', async (t) => {
  const cases: readonly (readonly [lines: readonly string[], message: RegExp])[] = [
    [['broker.id=abc'], /^Invalid value abc for configuration broker\.id: Not a number of type INT$/],
    [['num.partitions=0'], /^Invalid value 0 for configuration num\.partitions: Value must be at least 1$/],
    [['broker.id=-2'], /^broker\.id must be 0 or more/],
    [['broker.id=1', 'node.id=2'], /^node\.id and broker\.id are both set and differ: 2 and 1$/],
    [['broker.id.generation.enable=false'], /^broker\.id must be 0 or more, since/],
    [['listeners=PLAINTEXT'], /^listeners must list NAME:\/\/host:port/],
    [['listeners=PLAINTEXT://:70000'], /^listeners: 70000 in .* is not a port$/],
    [['listeners='], /^Invalid value {2}for configuration listeners/],
    [['listeners=OTHER://:9092'], /^listeners: the listener OTHER has no security protocol/],
    [['listeners=PLAINTEXT://:1,plaintext://:2'], /must have a different name, but PLAINTEXT occurs twice$/],
    [
      ['listeners=PLAINTEXT://:1,B://:1', 'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,B:PLAINTEXT'],
      /must have a different port/,
    ],
    [
      ['listeners=SSL://:1', 'security.inter.broker.protocol=SSL'],
      /^The listener SSL needs SSL, which this build does not offer yet$/,
    ],
    [[local, 'listener.security.protocol.map=PLAINTEXT'], /^listener\.security\.protocol\.map must list NAME:PROTOCOL/],
    [[local, 'listener.security.protocol.map=PLAINTEXT:TLS'], /TLS is none of PLAINTEXT, SSL/],
    [[local, 'advertised.listeners=SSL://a:1'], /^advertised\.listeners names SSL, which is not one of listeners/],
    [
      ['listeners=PLAINTEXT://0.0.0.0:1'],
      /^advertised\.listeners is not set, and listeners would tell clients to connect to 0\.0\.0\.0/,
    ],
    [[local, 'advertised.listeners=PLAINTEXT://0.0.0.0:1'], /^advertised\.listeners would tell .* as PLAINTEXT:\/\/HOST:1$/],
    [[local, 'inter.broker.listener.name=INTERNAL'], /^inter\.broker\.listener\.name: the listener INTERNAL has no security/],
    [[local, 'inter.broker.listener.name=PLAINTEXT', 'security.inter.broker.protocol=PLAINTEXT'], /^Only one of/],
    [[local, 'security.inter.broker.protocol=SSL'], /^The listener for other brokers, SSL/],
    [[local, 'control.plane.listener.name=CONTROL'], /^control\.plane\.listener\.name: CONTROL is not one of/],
    [[local, 'control.plane.listener.name=PLAINTEXT'], /^control\.plane\.listener\.name must not be/],
    [['zookeeper.connect=localhost:zk'], /^zookeeper\.connect: .*localhost:zk/],
    [
      ['zookeeper.ssl.client.enable=true', 'zookeeper.ssl.truststore.location=/etc/trust.jks'],
      /^zookeeper\.ssl\.truststore\.location is a file of type JKS, \/etc\/trust\.jks; Odradek reads PEM there/,
    ],
    [['zookeeper.ssl.client.enable=true', 'zookeeper.ssl.ocsp.enable=true'], /^zookeeper\.ssl\.ocsp\.enable is true, but/],
    [['zookeeper.ssl.client.enable=true', 'zookeeper.ssl.protocol=TLS'], /^zookeeper\.ssl\.enabled\.protocols has TLS;/],
    [['process.roles=controller', 'node.id=1'], /^process\.roles names only controller/],
    [
      ['process.roles=controller', 'listeners=CONTROLLER://:9093', 'controller.listener.names=CONTROLLER'],
      /^process\.roles names only controller/,
    ],
    [['{"listeners": ["PLAINTEXT://:9092"]}'], /^Nothing of what is given is a setting of a broker: \{"listeners"$/],
    [['process.roles=leader'], /String must be one of: broker, controller$/],
    [['remote.log.storage.system.enable=true'], /no tiered storage$/],
    [
      ['authorizer.class.name=com.example.Authorizer'],
      /^authorizer\.class\.name names a Java class, com\.example\.Authorizer, which/,
    ],
    [['create.topic.policy.class.name=com.example.Policy'], /com\.example\.Policy, which Odradek cannot run$/],
    [['principal.builder.class=com.example.Builder'], /com\.example\.Builder, which Odradek cannot run$/],
    [['log.retention.ms=0'], /^log\.retention\.ms must be at least 1/],
    [['log.roll.ms=0'], /^log\.roll\.ms must be at least 1/],
    [['log.dirs='], /log\.dirs/],
    [['log.cleaner.dedupe.buffer.size=1048576'], /^log\.cleaner\.dedupe\.buffer\.size must be more than 1 MiB/],
    [['log.cleaner.min.compaction.lag.ms=2', 'log.cleaner.max.compaction.lag.ms=1'], /^log\.cleaner\.min\.compaction\.lag\.ms/],
    [['queued.max.request.bytes=10'], /^queued\.max\.request\.bytes must be at least/],
    [['max.connections.per.ip=0'], /^max\.connections\.per\.ip can be 0 only/],
    [['max.connections.per.ip.overrides=localhost'], /must list host:count, but an entry is: localhost$/],
    [['connections.max.idle.ms=100'], /^connection\.failed\.authentication\.delay\.ms/],
    [['replica.fetch.wait.max.ms=30001'], /^replica\.socket\.timeout\.ms must be at least/],
    [['replica.fetch.wait.max.ms=501', 'replica.lag.time.max.ms=500'], /^replica\.fetch\.wait\.max\.ms must not be above/],
    [['group.coordinator.rebalance.protocols=consumer'], /must include classic$/],
    [['group.consumer.session.timeout.ms=1'], /^group\.consumer\.session\.timeout\.ms must be between/],
    [['group.share.max.heartbeat.interval.ms=1'], /^group\.share\.min\.heartbeat\.interval\.ms must not be above/],
    [['inter.broker.protocol.version=9.9'], /not a release of Apache Kafka/],
    [
      ['listener.name.plaintext.max.connections=x'],
      /^Invalid value x for configuration listener\.name\.plaintext\.max\.connections/,
    ],
  ];
  for (const [lines, message] of cases) {
    await t.test(lines.join(' '), () =>
      assert.throws(
        () => configOf(...lines),
        (error) => error instanceof ConfigError && message.test(error.message) && !error.message.includes('\n'),
      ),
    );
  }
});

test('accepts releases in every form', () => {
  for (const release of ['3.9', '3.9-IV0', '2.8.1', '0.10.0', '0.10.0.1', '0.9.0'])
    configOf(`inter.broker.protocol.version=${release}`);
});

test('warns of keys that nobody knows, but not of a plug-in’s or a listener’s', () => {
  const config = configOf('log.retention.hour=1', 'my.own=1', 'rsm.config.x=1', 'listener.name.plaintext.max.connections=1');
  assert.deepEqual(config.warnings, [
    'Unknown configuration log.retention.hour is ignored; log.retention.hours is a setting',
    'Unknown configuration my.own is ignored',
  ]);
});

test('warns of an address that is none, and of a directory that is not where it seems', () => {
  const { warnings } = configOf('listeners=PLAINTEXT://[::]:9092');
  assert.match(warnings.join('\n'), /^Clients are told to connect to \[::\]/);
  assert.match(configOf(local, 'log.dirs=/a, ~/data').warnings.join('\n'), /^log\.dirs begins with ~/);
});

test('starts as a single broker on the file that Kafka ships for KRaft', () => {
  const config = configOf(
    'process.roles=broker,controller',
    'node.id=1',
    'controller.quorum.bootstrap.servers=localhost:9093',
    'listeners=PLAINTEXT://:9092,CONTROLLER://:9093',
    'inter.broker.listener.name=PLAINTEXT',
    'advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093',
    'controller.listener.names=CONTROLLER',
    'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL',
    'log.dirs=/tmp/kraft-combined-logs',
    'share.coordinator.state.topic.min.isr=1',
  );
  assert.equal(config.brokerId, 1);
  assert.deepEqual(
    config.listeners.map(({ name, port }) => [name, port]),
    [['PLAINTEXT', 9092]],
  );
  assert.deepEqual(
    config.advertisedListeners.map(({ name, host }) => [name, host]),
    [['PLAINTEXT', 'localhost']],
  );
  assert.deepEqual(config.warnings, [
    'Odradek has no KRaft quorum and ignores process.roles, controller.quorum.bootstrap.servers, controller.listener.names; this broker is a cluster of its own, and several are one with zookeeper.connect',
    'The listener CONTROLLER://:9093 is for a KRaft controller and is not opened',
  ]);
});

test('starts as a single broker on the file that Kafka 3.9 ships for ZooKeeper, once its address is taken out', () => {
  const config = configOf(
    'broker.id=0',
    'num.network.threads=3',
    'log.dirs=/tmp/kafka-logs',
    'zookeeper.connection.timeout.ms=18000',
    'group.initial.rebalance.delay.ms=0',
  );
  assert.equal(config.brokerId, 0);
  assert.deepEqual(config.warnings, []);
});

test('a value for this broker wins over one for all, and that over the file', () => {
  const config = configOf('log.retention.ms=1');
  config.setDynamic('dynamicDefault', new Map([['log.retention.ms', '2']]));
  assert.equal(config.get('log.retention.ms'), 2);
  config.setDynamic('dynamicBroker', new Map([['log.retention.ms', '3']]));
  assert.equal(config.get('log.retention.ms'), 3);
  assert.deepEqual(config.origins(['log.retention.ms', 'log.retention.minutes', 'log.retention.hours']), [
    { level: 'dynamicBroker', name: 'log.retention.ms', text: '3' },
    { level: 'dynamicDefault', name: 'log.retention.ms', text: '2' },
    { level: 'static', name: 'log.retention.ms', text: '1' },
    { level: 'default', name: 'log.retention.hours', text: '168' },
  ]);
  config.setDynamic('dynamicBroker', new Map());
  assert.equal(config.get('log.retention.ms'), 2);
});

test('tells listeners of changes to their settings only', () => {
  const config = configOf();
  const told: string[] = [];
  const stop = config.onChange(['log.retention.ms', 'num.partitions'], () => told.push(String(config.get('log.retention.ms'))));
  config.setDynamic('dynamicBroker', new Map([['message.max.bytes', '1']]));
  config.setDynamic('dynamicBroker', new Map([['log.retention.ms', '2']]));
  config.setDynamic('dynamicBroker', new Map([['log.retention.ms', '2']]));
  config.setDynamic('dynamicBroker', new Map());
  stop();
  config.setDynamic('dynamicBroker', new Map([['log.retention.ms', '3']]));
  assert.deepEqual(told, ['2', 'null']);
});

test('leaves out what it cannot read of what was stored', () => {
  const config = configOf();
  const problems = config.setDynamic(
    'dynamicBroker',
    new Map([
      ['log.retention.ms', 'x'],
      ['message.max.bytes', '5'],
    ]),
  );
  assert.equal(config.get('message.max.bytes'), 5);
  assert.deepEqual(problems, ['Invalid value x for configuration log.retention.ms: Not a number of type LONG']);
});

test('judges a change without making it', () => {
  const config = configOf();
  assert.throws(() => config.checkDynamic('dynamicBroker', new Map([['log.retention.ms', '0']])), ConfigError);
  assert.throws(() => config.checkDynamic('dynamicBroker', new Map([['leader.replication.throttled.rate', '-1']])), ConfigError);
  config.checkDynamic('dynamicBroker', new Map([['log.retention.ms', '5']]));
  assert.equal(config.get('log.retention.ms'), null);
});

test('a listener can have a value of its own', () => {
  const config = configOf('max.connections=10', 'listener.name.plaintext.max.connections=5');
  assert.equal(config.forListener('PLAINTEXT', 'max.connections'), 5);
  assert.equal(config.forListener('OTHER', 'max.connections'), 10);
  config.setDynamic('dynamicBroker', new Map([['listener.name.plaintext.max.connections', '7']]));
  assert.equal(config.forListener('PLAINTEXT', 'max.connections'), 7);
});
