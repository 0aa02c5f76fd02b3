// The command beside recorded runs of Apache Kafka's tool on the same files: the same words on both streams, and the same exit code.

import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { goldenDirectory, readArchive, unpack } from '@odradek/testing';
import { dumpLog } from './dump-log.ts';

interface Transcript {
  readonly tool: string;
  readonly argv: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
  readonly rc: number;
}

const golden = goldenDirectory();
const transcripts = golden === undefined ? [] : readTranscripts(join(golden, 'misc/cli-transcripts.jsonl.gz'));

function readTranscripts(path: string): Transcript[] {
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split('\n');
  return lines.map((line): Transcript => JSON.parse(line)).filter(({ tool }) => tool === 'kafka-dump-log');
}

async function run(args: readonly string[]): Promise<{ stdout: string; stderr: string; exitCode: number }> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const exitCode = await dumpLog(args, { stdout, stderr });
  return { stdout: stdout.text, stderr: stderr.text, exitCode };
}

class TextSink extends Writable {
  readonly #chunks: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}

describe('dump-log', { skip: golden === undefined && 'the golden facts are absent' }, () => {
  const startedIn = process.cwd();
  let directory: string;

  before(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'odradek-dump-')));
    unpack(readArchive(join(golden!, 'log/kafka-4.4-kraft-clean.tar.gz')), directory);
    process.chdir(directory);
  });
  after(() => {
    process.chdir(startedIn);
    rmSync(directory, { recursive: true });
  });

  test('has recorded runs to be compared with', () => assert.equal(transcripts.length, 20));

  for (const { argv, stdout, stderr, rc } of transcripts) {
    test(`kafka-dump-log ${argv.join(' ')}`, async () => {
      const said = await run(argv);
      assert.match(said.stdout, patternOf(stdout, directory));
      assert.match(said.stderr, patternOf(stderr, directory));
      assert.equal(said.exitCode, rc);
    });
  }

  for (const { args, expected } of [
    { args: ['--cluster-metadata-decoder'], expected: /KRaft/ },
    { args: ['--remote-log-metadata-decoder'], expected: /tiered storage/ },
    { args: ['--key-decoder-class', 'com.example.KeyDecoder'], expected: /com\.example\.KeyDecoder, a class of Java/ },
    { args: ['--value-decoder-class=com.example.ValueDecoder'], expected: /com\.example\.ValueDecoder, a class of Java/ },
    { args: ['--max-bytes', 'many'], expected: /max-bytes.*many/ },
    { args: ['--no-such-option'], expected: /unknown option/ },
  ]) {
    test(`says why ${args.join(' ')} cannot be`, async () => {
      const { stdout, stderr, exitCode } = await run(['--files', 'odd-0/00000000000000000000.log', ...args]);
      assert.match(stderr, expected);
      assert.deepEqual([stdout, exitCode], ['', 1]);
    });
  }

  test('takes the decoder of text by its name, and without one', async () => {
    const files = ['--files', 'odd-0/00000000000000000000.log'];
    const printed = await run([...files, '--print-data-log']);
    assert.deepEqual(await run([...files, '--key-decoder-class']), printed);
    assert.deepEqual(await run([...files, '--value-decoder-class', 'org.apache.kafka.tools.api.StringDecoder']), printed);
  });

  test('tells its version', async () => {
    const { stdout, exitCode } = await run(['--version']);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
    assert.equal(exitCode, 0);
  });

  test('changes nothing: an index with the zeros of a killed broker keeps them', async () => {
    const killed = readArchive(join(golden!, 'log/kafka-4.4-kraft-killed.tar.gz'));
    const name = 'segs-0/00000000000000000212';
    const files = ['.log', '.index', '.timeindex'].map((ending) => [`killed${ending}`, killed.get(name + ending)!.bytes] as const);
    unpack(
      new Map(files.map(([path, bytes]) => [`killed/${path.replace('killed', '00000000000000000212')}`, { bytes, modifiedMs: 0 }])),
      '.',
    );
    for (const ending of ['.index', '.timeindex']) copyFileSync(`killed/00000000000000000212${ending}`, `killed/before${ending}`);
    const { stdout, exitCode } = await run(['--files', 'killed/00000000000000000212.index,killed/00000000000000000212.timeindex']);
    assert.equal(exitCode, 0);
    assert.equal(stdout.match(/^offset: /gm)?.length, 7);
    for (const ending of ['.index', '.timeindex']) {
      assert.ok(readFileSync(`killed/00000000000000000212${ending}`).equals(readFileSync(`killed/before${ending}`)));
    }
  });
});

/** What varied is a placeholder there; stack frames have been left out. */
function patternOf(text: string, directory: string): RegExp {
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = escaped
    .replaceAll('<DIR>/dl', directory)
    .replaceAll('<NOW_MS>', '\\d{13}')
    .replaceAll('<uuid>', '[0-9a-f-]{36}')
    .replaceAll('<TOPIC_ID>', '[\\w-]{22}')
    .replaceAll('<OPTIONS>', '[^]*');
  return new RegExp(`^${pattern}$`);
}
