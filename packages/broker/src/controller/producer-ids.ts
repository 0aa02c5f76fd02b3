// Producer ids: handed out by the controller in blocks of a thousand, and by each broker one by one from its block.

import type { Coordination } from '@odradek/coordination';

export const producerIdBlockSize = 1000;

/** A block of its own for a broker: the controller's part of AllocateProducerIds. Answers the first id. */
export async function allocateProducerIds(
  _coordination: Coordination,
  _brokerId: number,
): Promise<{ readonly first: number; readonly count: number }> {
  throw new Error('not written yet');
}

/** A broker's supply. `allocateBlock` asks the controller: a direct call on one broker, AllocateProducerIds in a cluster. */
export class ProducerIds {
  constructor(_allocateBlock: () => Promise<{ readonly first: number; readonly count: number }>) {
    throw new Error('not written yet');
  }

  /** An id that no producer has had. */
  async next(): Promise<number> {
    throw new Error('not written yet');
  }
}
