import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide, type HeapView, type TrimmerState } from './memory-trimmer.ts';

const mebibyte = 1024 * 1024;

const cases: readonly {
  readonly name: string;
  readonly state: TrimmerState;
  readonly view: HeapView;
  readonly mustTrim: boolean;
  readonly quietLooks: number;
}[] = [
  {
    name: 'waits for a second quiet look',
    state: { trimmedBytes: 0, quietLooks: 0 },
    view: { heapBytes: 40 * mebibyte, busyShare: 0 },
    mustTrim: false,
    quietLooks: 1,
  },
  {
    name: 'trims what has grown once it is quiet',
    state: { trimmedBytes: 20 * mebibyte, quietLooks: 1 },
    view: { heapBytes: 40 * mebibyte, busyShare: 0.01 },
    mustTrim: true,
    quietLooks: 0,
  },
  {
    name: 'leaves alone what has hardly grown',
    state: { trimmedBytes: 30 * mebibyte, quietLooks: 7 },
    view: { heapBytes: 40 * mebibyte, busyShare: 0 },
    mustTrim: false,
    quietLooks: 8,
  },
  {
    name: 'never stops a busy process',
    state: { trimmedBytes: 0, quietLooks: 9 },
    view: { heapBytes: 400 * mebibyte, busyShare: 0.5 },
    mustTrim: false,
    quietLooks: 0,
  },
];

for (const { name, state, view, mustTrim, quietLooks } of cases) {
  test(name, () => {
    const decision = decide(state, view);
    assert.equal(decision.mustTrim, mustTrim);
    assert.equal(decision.state.quietLooks, quietLooks);
  });
}
