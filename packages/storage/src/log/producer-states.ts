// What the log knows of the producers that write to it: their last batches, which tell a retry from something new, their epochs,
// which tell a zombie, and their open transactions, which bound what read_committed consumers may see.
//
// One state is enough to judge the next batch of a producer:
//   same sequences as one of its last five batches   a retry: answered like the first time, not written again
//   follows its last sequence                        new
//   anything else                                    OUT_OF_ORDER_SEQUENCE_NUMBER

import { errorCodes, ProtocolError, type RecordBatch, sequenceAfter } from '@odradek/protocol';

/** How many batches of a producer are remembered: as many as a client may have in flight. */
const rememberedBatches = 5;

export interface BatchMetadata {
  readonly lastSequence: number;
  readonly lastOffset: number;
  readonly offsetDelta: number;
  readonly timestamp: number;
}

export interface ProducerState {
  readonly producerId: number;
  producerEpoch: number;
  /** The last five at most, the newest last. */
  batches: BatchMetadata[];
  /** Of its last transaction marker; -1 = none. */
  coordinatorEpoch: number;
  lastTimestamp: number;
  /** undefined: no transaction is open. */
  transactionFirstOffset: number | undefined;
}

/** A transaction that ended with the marker just appended. */
export interface CompletedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly isAborted: boolean;
}

/** A transaction that is open, or whose end is not yet below the high watermark. */
interface Ongoing {
  readonly firstOffset: number;
  /** undefined while it is open. */
  lastOffset: number | undefined;
}

export class ProducerStates {
  readonly #states = new Map<number, ProducerState>();
  /** In the order of their first offsets, which is that of insertion. */
  readonly #ongoing: Ongoing[] = [];
  #mapEndOffset = 0;

  /** Everything before this offset is taken into account. */
  get mapEndOffset(): number {
    return this.#mapEndOffset;
  }

  get isEmpty(): boolean {
    return this.#states.size === 0;
  }

  get(producerId: number): ProducerState | undefined {
    return this.#states.get(producerId);
  }

  states(): Iterable<ProducerState> {
    return this.#states.values();
  }

  /** The first offset that an open or unreplicated transaction may still change; undefined where there is none. */
  firstUnstableOffset(): number | undefined {
    return this.#ongoing[0]?.firstOffset;
  }

  /** Transactions that ended below the high watermark cannot change any more. */
  highWatermarkMoved(highWatermark: number): void {
    for (let index = 0; index < this.#ongoing.length; ) {
      const { lastOffset } = this.#ongoing[index]!;
      if (lastOffset !== undefined && lastOffset < highWatermark) this.#ongoing.splice(index, 1);
      else index += 1;
    }
  }

  /** The offset of the oldest open transaction: a log must not be cleaned beyond it, and an aborted index entry names it. */
  firstUndecidedOffset(): number | undefined {
    return this.#ongoing.find(({ lastOffset }) => lastOffset === undefined)?.firstOffset;
  }

  /** The batch that this one repeats; undefined when it is none. */
  duplicateOf(batch: RecordBatch): BatchMetadata | undefined {
    const state = this.#states.get(batch.producerId);
    if (state === undefined || state.producerEpoch !== batch.producerEpoch || batch.baseSequence < 0) return undefined;
    const { baseSequence, lastSequence } = batch;
    return state.batches.find((known) => known.lastSequence === lastSequence && firstSequenceOf(known) === baseSequence);
  }

  /**
   * Whether the batch of a client may follow. Throws INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER or
   * TRANSACTION_COORDINATOR_FENCED.
   */
  check(batch: RecordBatch): void {
    const state = this.#states.get(batch.producerId);
    if (state === undefined) return;
    if (batch.producerEpoch < state.producerEpoch) {
      throw new ProtocolError(
        errorCodes.INVALID_PRODUCER_EPOCH,
        `Producer ${batch.producerId} has the epoch ${state.producerEpoch} now; ${batch.producerEpoch} is an old one.`,
      );
    }
    if (batch.isControl) return;
    this.#checkSequence(state, batch);
  }

  #checkSequence(state: ProducerState, batch: RecordBatch): void {
    const { baseSequence, producerEpoch, producerId } = batch;
    const last = state.batches.at(-1);
    if (producerEpoch !== state.producerEpoch) {
      // A new epoch counts from 0, unless all that is known of the old one is a marker.
      if (baseSequence !== 0 && last !== undefined) {
        throw outOfOrder(producerId, baseSequence, `its new epoch ${producerEpoch} must begin with 0`);
      }
      return;
    }
    if (last === undefined) return;
    if (sequenceAfter(last.lastSequence, 1) === baseSequence) return;
    // Also what is older than all that are remembered: Kafka has not answered DUPLICATE_SEQUENCE_NUMBER for a long time.
    throw outOfOrder(producerId, baseSequence, `the last was ${last.lastSequence}`);
  }

  /** Takes a batch of records into account, as it stands in the log. */
  append(batch: RecordBatch): void {
    const { producerId, producerEpoch, lastOffset } = batch;
    const state = this.#stateOf(producerId, producerEpoch);
    if (state.producerEpoch !== producerEpoch) {
      state.producerEpoch = producerEpoch;
      state.batches = [];
    }
    state.batches.push({
      lastSequence: batch.lastSequence,
      lastOffset,
      offsetDelta: batch.lastOffsetDelta,
      timestamp: batch.maxTimestamp,
    });
    if (state.batches.length > rememberedBatches) state.batches.shift();
    state.lastTimestamp = batch.maxTimestamp;
    if (batch.isTransactional && state.transactionFirstOffset === undefined) {
      state.transactionFirstOffset = batch.baseOffset;
      this.#ongoing.push({ firstOffset: batch.baseOffset, lastOffset: undefined });
    }
    this.#mapEndOffset = lastOffset + 1;
  }

  /** Whether a marker of that coordinator epoch may end a transaction. Throws TRANSACTION_COORDINATOR_FENCED. */
  checkMarker(producerId: number, coordinatorEpoch: number): void {
    const state = this.#states.get(producerId);
    if (state !== undefined && coordinatorEpoch < state.coordinatorEpoch) {
      throw new ProtocolError(
        errorCodes.TRANSACTION_COORDINATOR_FENCED,
        `The marker for producer ${producerId} comes from the coordinator epoch ${coordinatorEpoch}; it is ${state.coordinatorEpoch} now.`,
      );
    }
  }

  /** Takes a transaction marker into account. undefined: no transaction was open. */
  appendMarker(
    batch: RecordBatch,
    marker: { readonly isCommit: boolean; readonly coordinatorEpoch: number },
  ): CompletedTransaction | undefined {
    const { producerId, producerEpoch, baseOffset } = batch;
    const state = this.#stateOf(producerId, producerEpoch);
    if (state.producerEpoch !== producerEpoch) {
      state.producerEpoch = producerEpoch;
      state.batches = [];
    }
    const firstOffset = state.transactionFirstOffset;
    state.transactionFirstOffset = undefined;
    state.coordinatorEpoch = marker.coordinatorEpoch;
    state.lastTimestamp = batch.maxTimestamp;
    this.#mapEndOffset = batch.lastOffset + 1;
    if (firstOffset === undefined) return undefined;
    const ongoing = this.#ongoing.find((each) => each.firstOffset === firstOffset);
    if (ongoing !== undefined) ongoing.lastOffset = baseOffset;
    return { producerId, firstOffset, lastOffset: baseOffset, isAborted: !marker.isCommit };
  }

  /**
   * What readers of the last stable offset must not pass once this transaction, which is complete, no longer counts: the next open
   * one, or the end of the transaction.
   */
  lastStableOffsetAfter(completed: CompletedTransaction): number {
    const other = this.#ongoing.find(
      ({ firstOffset, lastOffset }) => lastOffset === undefined && firstOffset !== completed.firstOffset,
    );
    return other?.firstOffset ?? completed.lastOffset + 1;
  }

  advanceTo(mapEndOffset: number): void {
    this.#mapEndOffset = mapEndOffset;
  }

  /** Starts from what a snapshot says. States that expired before `nowMs` are left out, unless a transaction is open. */
  restore(states: readonly ProducerState[], mapEndOffset: number, nowMs: number, expirationMs: number): void {
    this.clear();
    for (const state of states) {
      const isExpired = state.transactionFirstOffset === undefined && nowMs - state.lastTimestamp >= expirationMs;
      if (isExpired) continue;
      this.#states.set(state.producerId, state);
      if (state.transactionFirstOffset !== undefined) {
        this.#ongoing.push({ firstOffset: state.transactionFirstOffset, lastOffset: undefined });
      }
    }
    this.#ongoing.sort((a, b) => a.firstOffset - b.firstOffset);
    this.#mapEndOffset = mapEndOffset;
  }

  removeExpired(nowMs: number, expirationMs: number): void {
    for (const [producerId, state] of this.#states) {
      if (state.transactionFirstOffset === undefined && nowMs - state.lastTimestamp >= expirationMs)
        this.#states.delete(producerId);
    }
  }

  clear(): void {
    this.#states.clear();
    this.#ongoing.length = 0;
    this.#mapEndOffset = 0;
  }

  #stateOf(producerId: number, producerEpoch: number): ProducerState {
    let state = this.#states.get(producerId);
    if (state === undefined) {
      state = {
        producerId,
        producerEpoch,
        batches: [],
        coordinatorEpoch: -1,
        lastTimestamp: -1,
        transactionFirstOffset: undefined,
      };
      this.#states.set(producerId, state);
    }
    return state;
  }
}

function firstSequenceOf(batch: BatchMetadata): number {
  const first = batch.lastSequence - batch.offsetDelta;
  return first < 0 ? first + 0x80000000 : first;
}

function outOfOrder(producerId: number, sequence: number, why: string): ProtocolError {
  return new ProtocolError(
    errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER,
    `Producer ${producerId} sent the sequence ${sequence} out of order: ${why}.`,
  );
}
