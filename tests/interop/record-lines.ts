// How records are handed to the small programs in other languages: one JSON object a line, all bytes in base64.

import type { SampleRecord } from './round-trip.ts';

export function writeRecordLines(records: readonly SampleRecord[]): string {
  return records
    .map((record) => {
      const line = {
        key: record.key?.toString('base64') ?? null,
        value: record.value?.toString('base64') ?? null,
        headers: record.headers.map(([name, value]) => [name, value.toString('base64')]),
      };
      return `${JSON.stringify(line)}\n`;
    })
    .join('');
}

interface RecordLine {
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: readonly (readonly [string, string])[];
}

export function readRecordLines(output: Buffer): SampleRecord[] {
  const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text, 'base64'));
  return output
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => {
      const record = JSON.parse(line) as RecordLine;
      return {
        key: bytes(record.key),
        value: bytes(record.value),
        headers: record.headers.map(([name, value]) => [name, Buffer.from(value, 'base64')] as const),
      };
    });
}
