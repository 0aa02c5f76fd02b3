// kcat, the command line of librdkafka.

import assert from 'node:assert/strict';
import { debianProgram, runCommand, type Tool } from '@odradek/testing';
import type { Codec, SampleRecord } from './round-trip.ts';

export function findKcat(): Promise<Tool<string>> {
  return debianProgram('kcat', 'kcat');
}

// Bytes that no record for kcat may contain.
const keyEnd = '\u001f';
const recordEnd = '\u001e';

/** kcat cannot send an empty value as such (-Z makes it null) and gives all records of a run the same headers. */
export function kcatCanSend(record: SampleRecord): boolean {
  const plain = (bytes: Buffer | null): boolean =>
    bytes === null || (bytes.length > 0 && !/[\u001e\u001f]/.test(bytes.toString('latin1')));
  return plain(record.key) && plain(record.value) && record.headers.length === 0 && record.key !== null;
}

export async function kcatProduce(
  kcat: string,
  bootstrap: string,
  topic: string,
  codec: Codec,
  records: readonly SampleRecord[],
): Promise<void> {
  const parts = records.flatMap((record) => [
    record.key ?? Buffer.alloc(0),
    Buffer.from(keyEnd),
    record.value ?? Buffer.alloc(0),
    Buffer.from(recordEnd),
  ]);
  const args = ['-P', '-b', bootstrap, '-t', topic, '-p', '0', '-Z', '-K', keyEnd, '-D', recordEnd, '-z', codec];
  await runCommand(kcat, [...args, '-X', 'acks=all', '-X', 'linger.ms=5'], { stdin: Buffer.concat(parts) });
}

/** All records of partition 0 from an offset to its end. */
export async function kcatConsume(kcat: string, bootstrap: string, topic: string, offset = 0): Promise<SampleRecord[]> {
  const args = ['-C', '-q', '-e', '-b', bootstrap, '-t', topic, '-p', '0', '-o', String(offset)];
  const { stdout } = await runCommand(kcat, [...args, '-f', '%K %S\\n%k%s\\n', '-X', 'check.crcs=true']);
  const records: SampleRecord[] = [];
  for (let position = 0; position < stdout.length; ) {
    const lineEnd = stdout.indexOf(10, position);
    const [keySize = NaN, valueSize = NaN] = stdout.toString('latin1', position, lineEnd).split(' ').map(Number);
    const keyAt = lineEnd + 1;
    const valueAt = keyAt + Math.max(0, keySize);
    const end = valueAt + Math.max(0, valueSize);
    assert.equal(stdout[end], 10, 'kcat prints sizes and bytes');
    records.push({
      key: keySize < 0 ? null : stdout.subarray(keyAt, valueAt),
      value: valueSize < 0 ? null : stdout.subarray(valueAt, end),
      headers: [],
    });
    position = end + 1;
  }
  return records;
}
