// The archives of the golden logs: what lay in the log directory of a real broker, packed by tar.
//
//   header, 512 bytes    0  100  name
//                      124   12  size, octal
//                      136   12  last change in seconds, octal
//                      156    1  type: 0 file, 5 directory, L the next entry's name
//                      345  155  what stands before the name
//   content, filled up to 512 bytes

import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const blockBytes = 512;

export interface ArchivedFile {
  readonly bytes: Buffer;
  readonly modifiedMs: number;
}

/** Path → file. */
export type Archive = ReadonlyMap<string, ArchivedFile>;

export function readArchive(path: string): Archive {
  const bytes = gunzipSync(readFileSync(path));
  const files = new Map<string, ArchivedFile>();
  let longName: string | undefined;
  for (let at = 0; at + blockBytes <= bytes.length && bytes[at] !== 0; ) {
    const size = octalAt(bytes, at + 124, 12);
    const content = bytes.subarray(at + blockBytes, at + blockBytes + size);
    const type = String.fromCharCode(bytes[at + 156]!);
    const prefix = textAt(bytes, at + 345, 155);
    const name = longName ?? (prefix === '' ? textAt(bytes, at, 100) : `${prefix}/${textAt(bytes, at, 100)}`);
    longName = type === 'L' ? textAt(content, 0, content.length) : undefined;
    if (type === '0' || type === '\0') {
      files.set(name.replace(/^\.\//, ''), { bytes: content, modifiedMs: octalAt(bytes, at + 136, 12) * 1000 });
    }
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
  }
  return files;
}

export function unpack(archive: Archive, directory: string): void {
  for (const [name, { bytes, modifiedMs }] of archive) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    utimesSync(path, modifiedMs / 1000, modifiedMs / 1000);
  }
}

/** When the last file was changed: the time at which the broker stopped. */
export function stoppedAtMs(archive: Archive): number {
  return Math.max(...[...archive.values()].map(({ modifiedMs }) => modifiedMs));
}

function textAt(bytes: Buffer, position: number, length: number): string {
  const end = bytes.indexOf(0, position);
  return bytes.toString('utf8', position, end < 0 || end > position + length ? position + length : end);
}

function octalAt(bytes: Buffer, position: number, length: number): number {
  return Number.parseInt(textAt(bytes, position, length).trim() || '0', 8);
}
