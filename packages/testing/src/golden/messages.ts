// Checks the message codecs against bytes that Kafka wrote: messages/vectors-*.jsonl.gz, one message in one version a line.
// In the exact mode each must read as its JSON says and be written to the very same bytes. In the ordinary mode it must read without
// an error, and be written to the same bytes where the ordinary mode can tell everything that the message says.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import * as protocol from '@odradek/protocol';
import type { GoldenReport } from './report.ts';
import { type UnknownTagged, type VectorJson, vectorJson } from './vector-json.ts';

interface Vector {
  readonly message: string;
  readonly version: number;
  readonly kind: 'request' | 'response' | 'data';
  readonly module: string;
  readonly instance: string;
  readonly apiKey?: number;
  readonly hex: string;
  readonly json?: unknown;
  readonly unknownTagged?: readonly UnknownTagged[];
  readonly headerVersion?: number;
  readonly header?: Readonly<Record<string, unknown>> & { readonly unknownTagged?: readonly UnknownTagged[] };
  readonly headerHex?: string;
}

/** What exists for KRaft's quorum and its brokers only, and modules whose messages never meet a client or a log of ours. */
const leftOutKeys = new Set([52, 53, 54, 55, 59, 62, 63, 64, 70, 73, 80, 81, 82]);
const leftOutModules = new Set(['kafka-metadata', 'kafka-raft', 'kafka-storage', 'kafka-streams']);

/** Kafka 3.9 had names of its own for what 4.x calls ListConfigResources; the bytes are those of version 0. */
const formerFieldNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ListClientMetricsResourcesResponse: { configResources: 'clientMetricsResources', resourceName: 'name' },
};

export function checkMessages(directory: string, report: GoldenReport): void {
  const folder = join(directory, 'messages');
  const files = readdirSync(folder).filter((file) => /^vectors-.*\.jsonl(\.gz)?$/.test(file));
  for (const file of files.sort()) {
    for (const vector of readLines(join(folder, file))) {
      if (leftOutModules.has(vector.module) || (isApiMessage(vector) && leftOutKeys.has(vector.apiKey ?? -1))) report.skip();
      else report.check(`${file} ${vector.message} ${vector.version} ${vector.instance}`, () => checkVector(vector));
    }
  }
}

function readLines(path: string): Vector[] {
  const bytes = readFileSync(path);
  const text = path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  return text
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Vector);
}

function isApiMessage(vector: Vector): boolean {
  return vector.kind === 'request' || vector.kind === 'response';
}

function checkVector(vector: Vector): void {
  const { definition, version } = definitionOf(vector);
  checkBody(definition, version, vector.hex, vector, formerFieldNames[vector.message]);
  if (vector.headerHex === undefined || vector.headerVersion === undefined || vector.header === undefined) return;
  const api = protocol.apiByKey(definition.apiKey ?? -1);
  const isRequest = vector.kind === 'request';
  const expected = isRequest ? api?.requestHeaderVersion(version) : api?.responseHeaderVersion(version);
  if (expected !== vector.headerVersion) throw new Error(`the header has version ${vector.headerVersion}, not ${expected}`);
  const { unknownTagged, ...json } = vector.header;
  const header = isRequest ? protocol.RequestHeader : protocol.ResponseHeader;
  checkBody(header, vector.headerVersion, vector.headerHex, unknownTagged === undefined ? { json } : { json, unknownTagged });
}

function definitionOf(vector: Vector): { definition: protocol.MessageDefinition; version: number } {
  if (isApiMessage(vector)) {
    const api = protocol.apiByKey(vector.apiKey ?? -1);
    if (api === undefined) throw new Error('there is no such API');
    return { definition: vector.kind === 'request' ? api.request : api.response, version: vector.version };
  }
  const definition: unknown = Reflect.get(protocol, vector.message);
  if (!protocol.isMessageDefinition(definition)) throw new Error('there is no such message');
  if (definition.recordType === undefined) return { definition, version: vector.version };
  // Kafka 3.9 took the type of a record for the version of its key.
  if (vector.apiKey === undefined) return { definition, version: 0 };
  if (vector.apiKey !== definition.recordType) throw new Error(`its record type is ${definition.recordType}`);
  return { definition, version: vector.version };
}

function checkBody(
  definition: protocol.MessageDefinition,
  version: number,
  hex: string,
  expected: { readonly json?: unknown; readonly unknownTagged?: readonly UnknownTagged[] },
  formerNames: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(hex, 'hex');
  const exact = protocol.exactCodecFor(definition, version);
  const message = readWhole(exact, bytes);
  const actual = vectorJson(definition, version, message);
  expectJson(rename(actual, formerNames), expected.json, expected.unknownTagged ?? []);
  expectBytes(writeWhole(exact, message), hex, 'exact');

  const ordinary = protocol.codecFor(definition, version) as protocol.ExactCodec;
  const plain = readWhole(ordinary, bytes);
  const isLossless =
    actual.unknownTagged.length === 0 && isDeepStrictEqual(vectorJson(definition, version, plain).json, actual.json);
  if (isLossless) expectBytes(writeWhole(ordinary, plain), hex, 'ordinary');
}

function readWhole(codec: protocol.ExactCodec, bytes: Buffer): protocol.ExactMessage {
  const reader = new protocol.Reader(bytes);
  const message = codec.read(reader);
  if (reader.remaining > 0) throw new Error(`${reader.remaining} bytes were not read`);
  return message;
}

function writeWhole(codec: protocol.ExactCodec, message: protocol.ExactMessage): string {
  const writer = new protocol.Writer();
  codec.write(writer, message);
  const { size } = writer;
  const written = Buffer.concat(writer.chunks());
  if (written.length !== size) throw new Error(`${written.length} bytes were written, but the writer counted ${size}`);
  return written.toString('hex');
}

function rename({ json, unknownTagged }: VectorJson, names: Readonly<Record<string, string>>): VectorJson {
  if (Object.keys(names).length === 0) return { json, unknownTagged };
  const text = JSON.stringify({ json, unknownTagged }, (_, value: unknown) => {
    if (typeof value === 'string') return value.replace(/(?<=\/)\w+/g, (name) => names[name] ?? name);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [names[name] ?? name, inner]));
  });
  return JSON.parse(text) as VectorJson;
}

function expectJson(actual: VectorJson, json: unknown, unknownTagged: readonly UnknownTagged[]): void {
  if (!isDeepStrictEqual(actual.json, json))
    throw new Error(`reads as ${JSON.stringify(actual.json)}, not as ${JSON.stringify(json)}`);
  const sorted = (fields: readonly UnknownTagged[]): UnknownTagged[] =>
    [...fields].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.tag - b.tag));
  if (!isDeepStrictEqual(sorted(actual.unknownTagged), sorted(unknownTagged))) {
    throw new Error(`has the unknown tagged fields ${JSON.stringify(actual.unknownTagged)}, not ${JSON.stringify(unknownTagged)}`);
  }
}

function expectBytes(actual: string, expected: string, mode: string): void {
  if (actual !== expected) throw new Error(`is written (${mode} mode) as ${actual}, not as ${expected}`);
}
