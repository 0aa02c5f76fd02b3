// `odradek dump-log`, which kafka-dump-log.sh starts: what stands in the files of a log, in the words of Kafka's tool.

import type { Writable } from 'node:stream';
import { NodeFileSystem } from '@odradek/runtime';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { failureOf } from '../dump-log/dump-failure.ts';
import { dumpFiles } from '../dump-log/dump-files.ts';
import {
  decodeGroupRecord,
  decodeShareStateRecord,
  decodeText,
  decodeTransactionRecord,
  type RecordDecoder,
} from '../dump-log/record-decoders.ts';
import { maxInt } from '../dump-log/records-dump.ts';
import { TextOutput } from '../dump-log/text-output.ts';
import { version } from '../version.ts';

/** As commander keeps them. A decoder class that is named without a value is `true`. */
interface Options {
  readonly files?: string;
  readonly help?: true;
  readonly version?: true;
  readonly printDataLog?: true;
  readonly deepIteration?: true;
  readonly verifyIndexOnly?: true;
  readonly indexSanityCheck?: true;
  readonly maxMessageSize: number;
  readonly maxBytes: number;
  readonly keyDecoderClass?: string | true;
  readonly valueDecoderClass?: string | true;
  readonly offsetsDecoder?: true;
  readonly transactionLogDecoder?: true;
  readonly clusterMetadataDecoder?: true;
  readonly remoteLogMetadataDecoder?: true;
  readonly shareGroupStateDecoder?: true;
  readonly skipRecordMetadata?: true;
}

const purpose =
  'This tool helps to parse a log file and dump its contents to the console, useful for debugging a seemingly corrupt log segment.';

/** The decoders of Kafka that make text of bytes; others are Java, which cannot run here. */
const textDecoders = new Set(['org.apache.kafka.tools.api.StringDecoder', 'kafka.serializer.StringDecoder']);

export interface DumpStreams {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Answers the exit code. */
export async function dumpLog(args: readonly string[], { stdout, stderr }: DumpStreams): Promise<number> {
  const refuse = (text: string): number => {
    stderr.write(text);
    return 1;
  };
  const command = commandLine().configureOutput({ writeErr: (text) => stderr.write(text) });
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return 1;
    throw error;
  }
  const options = command.opts<Options>();
  if (options.version === true) {
    stdout.write(`${version()}\n`);
    return 0;
  }
  // As with all tools of Kafka, help is told as of a mistake.
  if (args.length === 0 || options.help === true) return refuse(`${purpose}\n${command.helpInformation()}`);
  if (options.files === undefined) return refuse(`Missing required argument "[files]"\n${command.helpInformation()}`);
  const refusal = refusalOf(options);
  return refusal === undefined ? dump(options.files, options, { stdout, stderr }) : refuse(`${refusal}\n`);
}

function commandLine(): Command {
  return new Command('dump-log')
    .usage('--files FILE[,FILE…] [options]')
    .helpOption(false)
    .option(
      '--files <file1, file2, ...>',
      'REQUIRED: the files to be dumped, separated by commas: .log, .index, .timeindex, .txnindex, .snapshot',
    )
    .option('--print-data-log', 'print keys and values of the records; any decoder implies it')
    .option('--deep-iteration', 'a line for each record; --print-data-log implies it')
    .option('--verify-index-only', 'compare indexes with their log and print only what differs')
    .option('--index-sanity-check', 'look only at what decides at a start whether an index must be made anew')
    .option('--max-message-size <size>', 'the largest batch that an index may point to', int, 5 * 1024 * 1024)
    .option('--max-bytes <size>', 'how much of each .log is read at most', int, maxInt)
    .option('--key-decoder-class [class]', 'what makes text of keys: org.apache.kafka.tools.api.StringDecoder')
    .option('--value-decoder-class [class]', 'what makes text of values: org.apache.kafka.tools.api.StringDecoder')
    .option('--offsets-decoder', 'show records of __consumer_offsets as what they say')
    .option('--transaction-log-decoder', 'show records of __transaction_state as what they say')
    .option('--share-group-state-decoder', 'show records of __share_group_state as what they say')
    .option('--cluster-metadata-decoder', 'of KRaft, which does not exist here')
    .option('--remote-log-metadata-decoder', 'of tiered storage, which does not exist here')
    .option('--skip-record-metadata', 'print nothing but keys and values of records')
    .option('--help', 'print this help')
    .option('--version', 'print the version')
    .showHelpAfterError()
    .exitOverride();
}

function int(text: string): number {
  const value = Number(text);
  if (/^[+-]?\d+$/.test(text) && Math.abs(value) <= maxInt) return value;
  throw new InvalidArgumentError('It must be a number of 32 bits.');
}

/** Why it cannot be done; undefined where it can. */
function refusalOf(options: Options): string | undefined {
  if (options.clusterMetadataDecoder === true) {
    return 'The option cluster-metadata-decoder is for the log of KRaft controllers. There are none here: the metadata is in the coordination tree.';
  }
  if (options.remoteLogMetadataDecoder === true) {
    return 'The option remote-log-metadata-decoder is for the metadata of tiered storage, which does not exist here.';
  }
  for (const [option, name] of [
    ['key-decoder-class', options.keyDecoderClass],
    ['value-decoder-class', options.valueDecoderClass],
  ] as const) {
    if (name === undefined || name === true || textDecoders.has(name)) continue;
    return `The option ${option} names ${name}, a class of Java. There is only ${[...textDecoders][0]}.`;
  }
  return undefined;
}

async function dump(files: string, options: Options, { stdout, stderr }: DumpStreams): Promise<number> {
  const output = new TextOutput(stdout);
  const errors = new TextOutput(stderr);
  const { decoder, printContents } = contentsOf(options);
  let exitCode = 0;
  try {
    await dumpFiles(splitAtCommas(files), {
      fileSystem: new NodeFileSystem(),
      output,
      errors,
      printContents,
      isDeep: printContents || options.deepIteration === true,
      skipRecordMetadata: options.skipRecordMetadata === true,
      decode: decoder,
      maxBytes: options.maxBytes,
      isSanityCheck: options.indexSanityCheck === true,
      isVerifyOnly: options.verifyIndexOnly === true,
      maxMessageBytes: options.maxMessageSize,
    });
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    errors.line(failure);
    exitCode = 1;
  }
  await output.flush();
  await errors.flush();
  return exitCode;
}

function contentsOf(options: Options): { readonly decoder: RecordDecoder; readonly printContents: boolean } {
  if (options.offsetsDecoder === true) return { decoder: decodeGroupRecord, printContents: true };
  if (options.transactionLogDecoder === true) return { decoder: decodeTransactionRecord, printContents: true };
  if (options.shareGroupStateDecoder === true) return { decoder: decodeShareStateRecord, printContents: true };
  const isAsked = [options.printDataLog, options.keyDecoderClass, options.valueDecoderClass].some((option) => option !== undefined);
  return { decoder: decodeText, printContents: isAsked };
}

/** As Java's `split`, which forgets the empty ones at the end. */
function splitAtCommas(files: string): string[] {
  const parts = files.split(',');
  return parts.slice(0, Math.max(1, parts.findLastIndex((part) => part !== '') + 1));
}
