// Producer ids: handed out by the controller in blocks of a thousand, and by each broker one by one from its block.

import { ConnectionError } from '@odradek/client/connection';
import { type Coordination, isCoordinationError, producerIdBlockNode } from '@odradek/coordination';
import { AllocateProducerIdsRequest, AllocateProducerIdsResponse, errorCodes, ProtocolError } from '@odradek/protocol';
import type { ControllerClient } from './controller-client.ts';

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

/**
 * Asks the controller for a block: the broker's part of AllocateProducerIds. COORDINATOR_LOAD_IN_PROGRESS, the one thing that clients
 * understand here, when it cannot be reached in time or refuses: as it does while this broker registers in a new session.
 */
export async function requestProducerIds(
  controller: Pick<ControllerClient, 'send'>,
  broker: { readonly brokerId: number; readonly brokerEpoch: number },
  patienceMs: number,
): Promise<AllocatedBlock> {
  const exchange = { request: AllocateProducerIdsRequest, response: AllocateProducerIdsResponse };
  let response: AllocateProducerIdsResponse;
  try {
    response = await controller.send(exchange, broker, { patienceMs });
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    throw notNow(error);
  }
  if (response.errorCode !== errorCodes.NONE) throw notNow(new ProtocolError(response.errorCode));
  return { first: response.producerIdStart, count: response.producerIdLen };
}

function notNow(cause: Error): ProtocolError {
  return new ProtocolError(errorCodes.COORDINATOR_LOAD_IN_PROGRESS, 'No producer ids could be had of the controller.', { cause });
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
