// How records are handed to the small programs in other languages: a line each, KEY tab VALUE tab HEADERS, all bytes in
// base64, a hyphen for null. Headers are NAME:VALUE, separated by commas.

import type { SampleRecord } from './round-trip.ts';

export function writeRecordLines(records: readonly SampleRecord[]): string {
  const text = (bytes: Buffer | null): string => bytes?.toString('base64') ?? '-';
  return records
    .map((record) => {
      const headers = record.headers.map(([name, value]) => `${text(Buffer.from(name))}:${text(value)}`);
      return `${text(record.key)}\t${text(record.value)}\t${headers.join(',')}\n`;
    })
    .join('');
}

export function readRecordLines(output: Buffer): SampleRecord[] {
  const bytes = (text: string): Buffer | null => (text === '-' ? null : Buffer.from(text, 'base64'));
  return output
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [key = '-', value = '-', headers = ''] = line.split('\t');
      return {
        key: bytes(key),
        value: bytes(value),
        headers: headers
          .split(',')
          .filter((header) => header !== '')
          .map((header) => {
            const [name = '', headerValue = ''] = header.split(':');
            return [Buffer.from(name, 'base64').toString(), Buffer.from(headerValue, 'base64')] as const;
          }),
      };
    });
}
