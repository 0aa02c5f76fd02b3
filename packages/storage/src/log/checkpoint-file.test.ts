import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedDisk } from '@odradek/testing';
import { DamagedCheckpointError, printOffsets, readOffsets } from './checkpoint-file.ts';

test('offsets are printed in Kafka’s form and read again', () => {
  const disk = new SimulatedDisk();
  const offsets = [
    { topicPartition: { topic: 'orders', partition: 0 }, offset: 4711 },
    { topicPartition: { topic: 'with-dash', partition: 12 }, offset: 0 },
  ];
  const text = printOffsets(offsets);
  assert.equal(text, '0\n2\norders 0 4711\nwith-dash 12 0\n');
  disk.replaceFileSync('/checkpoint', text);
  assert.deepEqual(
    readOffsets(disk, '/checkpoint'),
    new Map([
      ['orders-0', 4711],
      ['with-dash-12', 0],
    ]),
  );
  disk.replaceFileSync('/checkpoint', printOffsets([]));
  assert.deepEqual(readOffsets(disk, '/checkpoint'), new Map());
  assert.deepEqual(readOffsets(disk, '/absent'), new Map());
});

test('damage is found', () => {
  const disk = new SimulatedDisk();
  for (const text of ['1\n0\n', '0\n', '0\n2\norders 0 1\n', '0\n1\norders 0\n', '0\n1\norders zero 1\n', 'x']) {
    disk.replaceFileSync('/checkpoint', text);
    assert.throws(() => readOffsets(disk, '/checkpoint'), DamagedCheckpointError, JSON.stringify(text));
  }
});
