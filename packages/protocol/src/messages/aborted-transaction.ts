// An entry of a transaction index (.txnindex) after its int16 version: one aborted transaction in a segment.

import { int64, type Message, message } from '../schema/define.ts';

export const AbortedTxn = message({
  name: 'AbortedTxn',
  type: 'data',
  versions: '0',
  flexible: 'none',
  fields: {
    producerId: int64(),
    firstOffset: int64(),
    lastOffset: int64(),
    lastStableOffset: int64(),
  },
});
export type AbortedTxn = Message<typeof AbortedTxn>;
