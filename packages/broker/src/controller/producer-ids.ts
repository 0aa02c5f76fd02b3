// Producer ids: handed out by the controller in blocks of a thousand, and by each broker one by one from its block.

import { type Coordination, isCoordinationError, producerIdBlockNode } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';

export const producerIdBlockSize = 1000;

export interface AllocatedBlock {
  readonly first: number;
  readonly count: number;
}

/** A block of its own for a broker: the controller's part of AllocateProducerIds. */
export async function allocateProducerIds(coordination: Coordination, brokerId: number): Promise<AllocatedBlock> {
  for (;;) {
    const { data, stat } = await coordination.get(producerIdBlockNode.path);
    const previous = producerIdBlockNode.decode(data);
    const first = previous === undefined ? 0 : previous.last + 1;
    const last = first + producerIdBlockSize - 1;
    if (!Number.isSafeInteger(last))
      throw new ProtocolError(errorCodes.UNKNOWN_SERVER_ERROR, 'All producer ids have been given out.');
    try {
      await coordination.set(producerIdBlockNode.path, producerIdBlockNode.encode({ brokerId, first, last }), stat.version);
      return { first, count: producerIdBlockSize };
    } catch (error) {
      // A controller of another time took a block in between.
      if (!isCoordinationError(error, 'BadVersion')) throw error;
    }
  }
}

/** A broker's supply. `allocateBlock` asks the controller: a direct call on one broker, AllocateProducerIds in a cluster. */
export class ProducerIds {
  readonly #allocateBlock: () => Promise<AllocatedBlock>;
  #next = 0;
  #end = 0;
  #allocating: Promise<void> | undefined;

  constructor(allocateBlock: () => Promise<AllocatedBlock>) {
    this.#allocateBlock = allocateBlock;
  }

  /** An id that no producer has had. */
  async next(): Promise<number> {
    while (this.#next === this.#end) {
      this.#allocating ??= this.#refill();
      await this.#allocating;
    }
    return this.#next++;
  }

  /** All who wait share one request; when it fails, they all fail. */
  async #refill(): Promise<void> {
    try {
      const { first, count } = await this.#allocateBlock();
      this.#next = first;
      this.#end = first + count;
    } finally {
      this.#allocating = undefined;
    }
  }
}
