// An entry of a transaction index (.txnindex), after an int16, the version: a transaction that was aborted in this segment.

import { int64, type Message, message } from '../schema/define.ts';

/** lastStableOffset is what it was when the end marker was written: a search may stop at the first entry where it lies beyond what is asked for. */
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
