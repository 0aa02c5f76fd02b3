// kcat: every codec, and a real log file of a machine that comes back byte for byte.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type BrokerUnderTest, brokerUnderTest, needed, runCommand, skipWithout, uniqueName } from '@odradek/testing';
import { findKcat, kcatCanSend, kcatConsume, kcatProduce } from './kcat.ts';
import { allCodecs, roundTripTests } from './round-trip.ts';

const kcat = await findKcat();

roundTripTests({
  name: 'kcat',
  tools: [kcat],
  codecs: allCodecs,
  canSend: kcatCanSend,
  produce: (bootstrap, topic, codec, records) => kcatProduce(needed(kcat), bootstrap, topic, codec, records),
  consume: (bootstrap, topic) => kcatConsume(needed(kcat), bootstrap, topic),
});

describe('kcat', { skip: skipWithout(kcat) }, () => {
  let broker: BrokerUnderTest;
  before(async () => {
    broker = await brokerUnderTest();
  });
  after(() => broker?.close());

  for (const codec of allCodecs) {
    test(`a log file of more than 10,000 lines comes back byte for byte (${codec})`, async () => {
      const file = await realLogFile();
      assert.ok(file.toString('latin1').split('\n').length > 10_000);
      const topic = uniqueName(`log-file-${codec}`);
      const common = ['-b', broker.bootstrap, '-t', topic, '-p', '0'];
      await runCommand(needed(kcat), ['-P', ...common, '-z', codec], { stdin: file });
      const { stdout } = await runCommand(needed(kcat), ['-C', '-q', '-e', ...common, '-o', 'beginning']);
      assert.ok(stdout.equals(file), `${stdout.length} bytes came back of ${file.length}`);
    });
  }

  test('headers, timestamps and offsets are told as they were given', async () => {
    const topic = uniqueName('kcat-json');
    const common = ['-b', broker.bootstrap, '-t', topic, '-p', '0'];
    await runCommand(needed(kcat), ['-P', ...common, '-k', 'k', '-H', 'color=blue', '-H', 'empty='], { stdin: 'one\ntwo\n' });
    const { stdout } = await runCommand(needed(kcat), ['-C', '-q', '-e', '-J', ...common, '-o', '1']);
    const record = JSON.parse(stdout.toString()) as Record<string, unknown>;
    assert.equal(record['offset'], 1);
    assert.equal(record['tstype'], 'create');
    assert.equal(record['key'], 'k');
    assert.equal(record['payload'], 'two');
    assert.deepEqual(record['headers'], ['color', 'blue', 'empty', '']);
  });

  test('the offset for a time is found with -Q', async () => {
    const topic = uniqueName('kcat-query');
    await runCommand(needed(kcat), ['-P', '-b', broker.bootstrap, '-t', topic, '-p', '0'], { stdin: 'one\ntwo\n' });
    const ask = async (time: string): Promise<string> => {
      const { stdout } = await runCommand(needed(kcat), ['-Q', '-b', broker.bootstrap, '-t', `${topic}:0:${time}`]);
      return stdout.toString().trim();
    };
    assert.match(await ask('1'), /offset 0$/);
    assert.match(await ask('-2'), /offset 0$/);
    assert.match(await ask('-1'), /offset 2$/);
    // Later than every record: -1, which librdkafka prints as the end.
    assert.match(await ask('95617584000000'), /offset -1$/);
  });

  test('the broker, its topics and leaders are listed with -L', async () => {
    const topic = uniqueName('kcat-list');
    await runCommand(needed(kcat), ['-P', '-b', broker.bootstrap, '-t', topic], { stdin: 'one\n' });
    const { stdout } = await runCommand(needed(kcat), ['-L', '-b', broker.bootstrap]);
    assert.match(
      stdout.toString(),
      new RegExp(`topic "${topic}" with 1 partitions:\n +partition 0, leader \\d+, replicas: \\d+, isrs: \\d+`),
    );
    assert.match(stdout.toString(), new RegExp(`broker \\d+ at ${broker.bootstrap}`));
  });
});

/** The package manager's log where it is long enough; else the listing of all installed files, which every machine has. */
async function realLogFile(): Promise<Buffer> {
  try {
    const log = readFileSync('/var/log/dpkg.log');
    if (log.toString('latin1').split('\n').length > 10_000) {
      return log;
    }
  } catch {
    // No such log on this machine.
  }
  const { stdout } = await runCommand('find', ['/usr', '-type', 'f'], { mayFail: true });
  const lines = stdout.toString('latin1').split('\n').slice(0, 60_000);
  return Buffer.from(`${lines.filter((line) => line !== '').join('\n')}\n`, 'latin1');
}
