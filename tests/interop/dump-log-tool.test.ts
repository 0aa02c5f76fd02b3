// kafka-dump-log.sh beside the tool of Apache Kafka: the same bytes on both streams, for folders that Kafka wrote, killed or stopped in
// order, for folders that we wrote, and for files that are damaged.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as protocol from '@odradek/protocol';
import { buildRecordBatch, encodeToBuffer } from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { goldenDirectory, needed, randomMessage, readArchive, runCommand, skipWithout, unpack } from '@odradek/testing';
import { kafkaTools, runJava } from './java.ts';
import { fillLogs, withLogs } from './written-logs.ts';

const tools = await kafkaTools();
const golden = goldenDirectory();
const launcher = fileURLToPath(new URL('../../bin/kafka-dump-log.sh', import.meta.url));

/** Java encodes its output as the locale says. */
const env = { LC_ALL: 'C.UTF-8' };

/** Files of segments and snapshots, a folder after the other; of Kafka's internal topics only those that have something. */
function filesIn(directory: string, isOfLog: (folder: string) => boolean = () => true): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isOfLog(entry.name))
    .flatMap(({ name }) => readdirSync(join(directory, name)).map((file) => join(name, file)))
    .filter((path) => /\.(log|index|timeindex|txnindex|snapshot|checkpoint)$/.test(path));
}

async function compare(cwd: string, files: readonly string[], options: readonly string[]): Promise<string> {
  const args = ['--files', files.join(','), ...options];
  const [kafka, ours] = await Promise.all([
    runJava(needed(tools), 'org.apache.kafka.tools.DumpLogSegments', args, { cwd, env, timeoutMs: 90_000, mayFail: true }),
    runCommand(launcher, args, { cwd, env, mayFail: true }),
  ]);
  const stdout = kafka.stdout.toString();
  assertSameLines(ours.stdout.toString(), stdout);
  assertSameLines(ours.stderr, kafka.stderr.replaceAll(/^(\tat |Caused by: |\t\.\.\. ).*\n/gm, ''));
  assert.equal(ours.exitCode, kafka.exitCode);
  return stdout;
}

/** Shows the first difference, not two files. */
function assertSameLines(actual: string, expected: string): void {
  const [actualLines, expectedLines] = [actual.split('\n'), expected.split('\n')];
  for (const [index, line] of expectedLines.entries()) assert.equal(actualLines[index], line, `line ${index + 1}`);
  assert.equal(actualLines.length, expectedLines.length);
}

describe('kafka-dump-log of both', { skip: skipWithout(tools) || (golden === undefined && 'the golden facts are absent') }, () => {
  const made: string[] = [];
  after(() => {
    for (const directory of made) rmSync(directory, { recursive: true });
  });

  function newDirectory(): string {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'odradek-dump-tool-')));
    made.push(directory);
    return directory;
  }

  function unpacked(name: string): string {
    const directory = newDirectory();
    unpack(readArchive(join(golden!, `log/${name}.tar.gz`)), directory);
    return directory;
  }

  for (const name of ['kafka-3.9-zk-killed', 'kafka-3.9-zk-oldformat', 'kafka-4.4-kraft-clean']) {
    test(`on ${name}`, async () => {
      const directory = unpacked(name);
      const files = filesIn(directory, (folder) => !/^__(consumer_offsets|transaction_state)-/.test(folder));
      const shown = await compare(directory, files, ['--print-data-log']);
      assert.ok((shown.match(/^\| offset: /gm)?.length ?? 0) > 100);
      await compare(directory, files, ['--deep-iteration', '--skip-record-metadata', '--print-data-log']);
      await compare(directory, files, ['--verify-index-only']);
    });
  }

  test("on the records of Kafka's own topics", async () => {
    const directory = unpacked('kafka-4.4-kraft-clean');
    const logsOf = (topic: string): string[] =>
      filesIn(directory, (folder) => folder.startsWith(topic)).filter((path) => path.endsWith('.log'));
    const groups = await compare(directory, logsOf('__consumer_offsets-'), ['--offsets-decoder']);
    assert.match(groups, /key: \{"type":"1","data":\{"group"/);
    const transactions = await compare(directory, logsOf('__transaction_state-'), ['--transaction-log-decoder']);
    assert.match(transactions, /"transactionStatus":"CompleteCommit"/);
    // What is of another topic cannot be understood.
    await compare(directory, ['txns-0/00000000000000000005.log'], ['--share-group-state-decoder']);
  });

  for (const [topic, option, isOfTopic] of [
    ['__consumer_offsets', '--offsets-decoder', (name: string) => !/^(TransactionLog|ShareSnapshot|ShareUpdate)/.test(name)],
    ['__transaction_state', '--transaction-log-decoder', (name: string) => name.startsWith('TransactionLog')],
    ['__share_group_state', '--share-group-state-decoder', (name: string) => /^Share(Snapshot|Update)/.test(name)],
  ] as const) {
    test(`on records of every kind and version in ${topic}, filled at random`, async () => {
      const directory = newDirectory();
      writeFileSync(join(directory, '00000000000000000000.log'), randomRecords(isOfTopic));
      const shown = await compare(directory, ['00000000000000000000.log'], [option]);
      assert.ok((shown.match(/payload: \{"version"/g)?.length ?? 0) > 4);
    });
  }

  describe('on folders that we wrote', () => {
    let directory: string;
    before(async () => {
      directory = newDirectory();
      await withLogs(directory, fillLogs);
    });

    test('as they are', async () => {
      const shown = await compare(directory, filesIn(directory), ['--print-data-log']);
      assert.ok((shown.match(/^\| offset: /gm)?.length ?? 0) > 500);
    });

    test('with indexes that do not fit', async () => {
      const [first, second] = readdirSync(join(directory, 'many-segments-0'))
        .filter((name) => name.endsWith('.log'))
        .map((name) => join('many-segments-0', name.slice(0, -'.log'.length)));
      edit(join(directory, `${first}.index`), (bytes) => void bytes.writeInt32BE(bytes.readInt32BE(8) + 1, 8));
      edit(join(directory, `${first}.timeindex`), (bytes) => {
        const [one, two] = [Buffer.from(bytes.subarray(0, 12)), Buffer.from(bytes.subarray(12, 24))];
        two.copy(bytes, 0);
        one.copy(bytes, 12);
        bytes.writeInt32BE(bytes.readInt32BE(32) + 1, 32);
      });
      edit(join(directory, `${second}.timeindex`), (bytes) => void bytes.writeBigInt64BE(1n, bytes.length - 12));
      const files = [first, second].flatMap((stem) => [`${stem}.index`, `${stem}.timeindex`]);
      await compare(directory, files, []);
      await compare(directory, [`${second}.timeindex`], ['--index-sanity-check']);
    });

    test('with records that are damaged', async () => {
      const path = join(directory, 'codecs-0/00000000000000000000.log');
      const bytes = readFileSync(path);
      edit(path, () => bytes.subarray(0, bytes.length - 10));
      await compare(directory, ['codecs-0/00000000000000000000.log'], []);
      edit(path, () => void bytes.writeInt32BE(5, 8));
      await compare(directory, ['codecs-0/00000000000000000000.log'], []);
    });
  });
});

/** Each kind of record in each version, a few times; deletions; and keys that say nothing. */
function randomRecords(isOfTopic: (name: string) => boolean): Buffer {
  const random = new SeededRandom(20241);
  const definitions = Object.values(protocol).filter((value) => protocol.isMessageDefinition(value));
  const records: { key: Buffer; value: Buffer | null }[] = [];
  for (const key of definitions.filter(({ recordType, name }) => recordType !== undefined && isOfTopic(name))) {
    const value = definitions.find(({ name }) => name === key.name.replace(/Key$/, 'Value'))!;
    const keyBytes = (): Buffer => Buffer.concat([int16(key.recordType!), encodeToBuffer(key, 0, randomMessage(key, 0, random))]);
    records.push({ key: keyBytes(), value: null });
    for (let version = value.versions.min; version <= value.versions.max; version++) {
      for (let count = 0; count < 4; count++) {
        const message = randomMessage(value, version, random);
        if ('transactionStatus' in message) message['transactionStatus'] = random.nextInt(8);
        if ('protocolType' in message && count % 2 === 0) message['protocolType'] = 'consumer';
        records.push({ key: keyBytes(), value: Buffer.concat([int16(version), encodeToBuffer(value, version, message)]) });
      }
    }
  }
  for (const key of [int16(99), Buffer.from([1])]) records.push({ key, value: Buffer.from('x') });
  let baseOffset = 0;
  const batches = records.map((record) => {
    baseOffset += 1;
    return buildRecordBatch({ baseOffset: baseOffset - 1 }, [{ ...record, timestamp: 1_700_000_000_000 }]);
  });
  return Buffer.concat(batches);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function edit(path: string, change: (bytes: Buffer) => Buffer | undefined): void {
  const bytes = readFileSync(path);
  writeFileSync(path, change(bytes) ?? bytes);
}
