// What can be wrong with the snapshots of a log's producers.

import assert from 'node:assert/strict';
import { decodeSnapshot, encodeSnapshot } from '../log/producer-snapshot.ts';
import type { ProducerState } from '../log/producer-states.ts';
import { type DamagedDirectory, many, type Planted, second } from './written-directory.fixture.ts';

export const snapshotDamage: readonly Planted[] = [
  {
    name: 'a flipped bit in a snapshot',
    plant: (d) => d.edit(`${second}.snapshot`, (bytes) => void (bytes[20]! ^= 1)),
    rules: ['snapshot-damaged'],
    file: '19.snapshot',
  },
  {
    name: 'a flipped bit in the last snapshot',
    plant: (d) => d.edit(`${many}/00000000000000000074.snapshot`, (bytes) => void (bytes[20]! ^= 1)),
    rules: ['snapshot-damaged'],
    file: '74.snapshot',
    isMended: true,
  },
  {
    name: 'a snapshot beyond the end',
    plant: (d) => d.rename(`${many}/00000000000000000074.snapshot`, `${many}/00000000000000000090.snapshot`),
    rules: ['snapshot-offset'],
    file: '90.snapshot',
  },
  {
    name: 'a snapshot of the middle of a batch',
    plant: (d) => d.rename(`${second}.snapshot`, `${many}/00000000000000000020.snapshot`),
    rules: ['snapshot-offset'],
    file: '20.snapshot',
  },
  ...snapshotCases(),
];

/** What can be wrong with the snapshot of the third segment, in which both producers are, the second with an open transaction. */
function snapshotCases(): Planted[] {
  const path = `${many}/00000000000000000037.snapshot`;
  const changes: readonly (readonly [name: string, change: (states: ProducerState[]) => ProducerState[]])[] = [
    ['another sequence', changed(0, (state) => ({ batches: state.batches.map((batch) => ({ ...batch, lastSequence: 999 })) }))],
    ['another last offset', changed(0, (state) => ({ batches: state.batches.map((batch) => ({ ...batch, lastOffset: 20 })) }))],
    [
      'an offset that it cannot know',
      changed(0, (state) => ({ batches: state.batches.map((batch) => ({ ...batch, lastOffset: 40 })) })),
    ],
    ['another delta', changed(0, (state) => ({ batches: state.batches.map((batch) => ({ ...batch, offsetDelta: 0 })) }))],
    ['another epoch', changed(0, () => ({ producerEpoch: 9 }))],
    ['another time', changed(0, () => ({ lastTimestamp: 4 }))],
    ['another coordinator', changed(1, () => ({ coordinatorEpoch: 2 }))],
    ['another open transaction', changed(1, (state) => ({ transactionFirstOffset: (state.transactionFirstOffset ?? 30) + 1 }))],
    ['a producer that the log does not know', (states) => [...states, { ...states[0]!, producerId: 99 }]],
  ];
  const cases = changes.map(([what, change]): Planted => {
    const plant = (d: DamagedDirectory): void => d.edit(path, (bytes) => encodeSnapshot(change(decodeSnapshot(bytes, path))));
    return { name: `a snapshot with ${what}`, plant, rules: ['snapshot-content'], file: '37.snapshot' };
  });
  const open = `${many}/00000000000000000074.snapshot`;
  const without: Planted = {
    name: 'a snapshot without the producer of an open transaction',
    plant: (d) => {
      const states = decodeSnapshot(d.read(open), open);
      assert.ok(states.some(({ transactionFirstOffset }) => transactionFirstOffset !== undefined));
      d.put(open, encodeSnapshot(states.filter(({ transactionFirstOffset }) => transactionFirstOffset === undefined)));
    },
    rules: ['snapshot-content'],
    file: '74.snapshot',
  };
  return [...cases, without];
}

function changed(
  index: number,
  change: (state: ProducerState) => Partial<ProducerState>,
): (states: ProducerState[]) => ProducerState[] {
  return (states) => states.map((state, at) => (at === index ? { ...state, ...change(state) } : state));
}
