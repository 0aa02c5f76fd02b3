// What the log knows of the producers that write to it: their last batches, which tell a retry from something new, their epochs,
// which tell a zombie, and their open transactions, which bound what read_committed consumers may see.
//
// One state is enough to judge the next batch of a producer:
//   same sequences as one of its last five batches   a retry: answered like the first time, not written again
//   follows its last sequence                        new
//   before those five, of this epoch, and known to   a retry that comes late: not written again, and nobody knows its offsets any more
//   have been appended by an earlier leader
//   anything else                                    OUT_OF_ORDER_SEQUENCE_NUMBER
//
// Kafka has no third row. It takes the next produce request of a connection when it has answered the one before, so that of a producer at
// most what one request holds is in the log and not answered. Here requests overlap. When the leader changes, some may be in the log of the
// next leader while the one before has not answered; the client already sends more than five batches behind them, and then repeats those.

import { errorCodes, ProtocolError, type RecordBatch, sequenceAfter } from '@odradek/protocol';

/** How many batches of a producer are remembered: as many as a client may have in flight. */
const rememberedBatches = 5;

/** Sequences go round in a circle; half of it is behind, half is ahead. */
const allSequences = 2 ** 31;
const mostKnownSequences = 2 ** 30;

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
  /** From this one on all sequences of the epoch have been appended, up to the last; -1 while there are no batches. */
  firstSequence: number;
  /** The leader epoch of its last batch, -1 when that is not known; and from which sequence on it wrote in that. */
  leaderEpoch: number;
  reignSequence: number;
  /** Of its last transaction marker; -1 = none. */
  coordinatorEpoch: number;
  lastTimestamp: number;
  /** undefined: no transaction is open. */
  transactionFirstOffset: number | undefined;
}

/** What is told of a producer to whoever asks. */
export interface ActiveProducer {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly lastSequence: number;
  readonly lastTimestamp: number;
  readonly coordinatorEpoch: number;
  /** -1: no transaction is open. */
  readonly currentTxnStartOffset: number;
}

export interface LastOfProducer {
  /**
   * The last offsets of its last batch with records, and of the last that is replicated, which would be its last if what follows were
   * lost. Empty: only a marker is known.
   */
  readonly lastDataOffsets: readonly number[];
  /** A snapshot has only the last batch, and what follows the high watermark may take its place: then any batch may be the one. */
  readonly isReplicatedKnown: boolean;
  readonly producerEpoch: number;
}

/** A transaction that ended with the marker just appended. */
export interface CompletedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly isAborted: boolean;
}

/** Transactions that ended at or above the high watermark: until the end is replicated it might be lost again. */
interface Unreplicated {
  readonly firstOffset: number;
  readonly lastOffset: number;
}

/** What most logs have, of which a broker holds thousands; nothing is put into it. */
const none: ReadonlyMap<number, ProducerState> = new Map();

export class ProducerStates {
  #states: Map<number, ProducerState> | undefined;
  /** The first offsets of the open transactions, ascending: transactions begin in the order of the log. undefined: none was open yet. */
  #open: Set<number> | undefined;
  /** In the order of their ends. */
  readonly #unreplicated: Unreplicated[] = [];

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  get(producerId: number): ProducerState | undefined {
    return this.#known.get(producerId);
  }

  states(): Iterable<ProducerState> {
    return this.#known.values();
  }

  /** The last thing that each producer left in the log, which a cleaning must not take away: see cleaner/batch-filter.ts. */
  last(highWatermark: number): Map<number, LastOfProducer> {
    const last = new Map<number, LastOfProducer>();
    for (const { producerId, producerEpoch, batches } of this.#known.values()) {
      const newest = batches.at(-1);
      const replicated = batches.findLast(({ lastOffset }) => lastOffset < highWatermark);
      const lastDataOffsets = [...new Set([newest, replicated])].flatMap((batch) => batch?.lastOffset ?? []);
      last.set(producerId, { lastDataOffsets, isReplicatedKnown: newest === undefined || replicated !== undefined, producerEpoch });
    }
    return last;
  }

  active(): ActiveProducer[] {
    return [...this.#known.values()].map((state) => ({
      producerId: state.producerId,
      producerEpoch: state.producerEpoch,
      lastSequence: state.batches.at(-1)?.lastSequence ?? -1,
      lastTimestamp: state.lastTimestamp,
      coordinatorEpoch: state.coordinatorEpoch,
      currentTxnStartOffset: state.transactionFirstOffset ?? -1,
    }));
  }

  /** The first offset that an open or unreplicated transaction may still change; undefined where there is none. */
  firstUnstableOffset(): number | undefined {
    if (this.#openCount === 0 && this.#unreplicated.length === 0) return undefined;
    let first = this.firstOpenOffset() ?? Number.MAX_SAFE_INTEGER;
    for (const { firstOffset } of this.#unreplicated) if (firstOffset < first) first = firstOffset;
    return first;
  }

  /** Transactions that ended below the high watermark cannot change any more. */
  highWatermarkMoved(highWatermark: number): void {
    let count = 0;
    while (count < this.#unreplicated.length && this.#unreplicated[count]!.lastOffset < highWatermark) count += 1;
    if (count > 0) this.#unreplicated.splice(0, count);
  }

  /** Where the oldest open transaction begins; undefined where there is none. */
  firstOpenOffset(): number | undefined {
    return this.#openCount === 0 ? undefined : this.#open?.values().next().value;
  }

  /** The batch that this one repeats; undefined when it is none. */
  duplicateOf(batch: RecordBatch): BatchMetadata | undefined {
    const state = this.#known.get(batch.producerId);
    if (state === undefined || state.producerEpoch !== batch.producerEpoch || batch.baseSequence < 0) return undefined;
    const { baseSequence, lastSequence } = batch;
    return state.batches.find((known) => known.lastSequence === lastSequence && firstSequenceOf(known) === baseSequence);
  }

  /**
   * For a batch, stamped by its leader, that has been appended by an earlier one, before the batches that are remembered: the oldest of
   * these, before which it lies.
   */
  forgottenBefore(batch: RecordBatch): BatchMetadata | undefined {
    const state = this.#known.get(batch.producerId);
    const oldest = state?.batches[0];
    if (state === undefined || oldest === undefined || state.producerEpoch !== batch.producerEpoch || batch.baseSequence < 0)
      return undefined;
    const { firstSequence, leaderEpoch, reignSequence } = state;
    const first = sequencesFrom(firstSequence, batch.baseSequence);
    const last = sequencesFrom(firstSequence, batch.lastSequence);
    const remembered = sequencesFrom(firstSequence, firstSequenceOf(oldest));
    // Behind a gap there are batches that are remembered and lie before the first of those known to follow each other.
    if (remembered > sequencesFrom(firstSequence, state.batches.at(-1)?.lastSequence ?? -1)) return undefined;
    if (first > last || last >= remembered) return undefined;
    const isOfThisLeader = batch.partitionLeaderEpoch === leaderEpoch && last >= sequencesFrom(firstSequence, reignSequence);
    return isOfThisLeader ? undefined : oldest;
  }

  /**
   * Whether a batch of records may follow. Only the sequences of clients are checked. Throws INVALID_PRODUCER_EPOCH,
   * OUT_OF_ORDER_SEQUENCE_NUMBER or INVALID_TXN_STATE.
   */
  check(batch: RecordBatch, isFromClient: boolean): void {
    const state = this.#known.get(batch.producerId);
    // Nothing is known of a new producer, nor of one whose records have all been deleted: it may begin anywhere.
    if (state === undefined) return;
    this.#checkEpoch(state, batch);
    if (isFromClient) this.#checkSequence(state, batch);
    if (state.transactionFirstOffset !== undefined && !batch.isTransactional) {
      throw new ProtocolError(
        errorCodes.INVALID_TXN_STATE,
        `Producer ${batch.producerId} is in a transaction, but sent records outside of it.`,
      );
    }
  }

  #checkEpoch(state: ProducerState, { producerId, producerEpoch }: RecordBatch): void {
    if (producerEpoch >= state.producerEpoch) return;
    throw new ProtocolError(
      errorCodes.INVALID_PRODUCER_EPOCH,
      `Producer ${producerId} has the epoch ${state.producerEpoch} now; ${producerEpoch} is an old one.`,
    );
  }

  #checkSequence(state: ProducerState, { baseSequence, producerEpoch, producerId }: RecordBatch): void {
    if (producerEpoch !== state.producerEpoch) {
      if (baseSequence !== 0) throw outOfOrder(producerId, baseSequence, `its new epoch ${producerEpoch} must begin with 0`);
      return;
    }
    const lastSequence = state.batches.at(-1)?.lastSequence ?? -1;
    // An epoch of which only a transaction marker is known begins with 0 as well.
    const expected = lastSequence < 0 ? 0 : sequenceAfter(lastSequence, 1);
    if (baseSequence !== expected) throw outOfOrder(producerId, baseSequence, `${expected} was expected`);
  }

  /** Takes a batch of records into account, as it stands in the log. */
  append(batch: RecordBatch): void {
    const { producerId, producerEpoch, lastOffset } = batch;
    const state = this.#stateOf(producerId, producerEpoch);
    if (state.producerEpoch !== producerEpoch) {
      state.producerEpoch = producerEpoch;
      state.batches = [];
    }
    this.#extendKnown(state, batch);
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
      this.#addOpen(batch.baseOffset);
    }
  }

  /** To be called before the batch is added. */
  #extendKnown(state: ProducerState, { baseSequence, lastSequence, partitionLeaderEpoch }: RecordBatch): void {
    const newest = state.batches.at(-1);
    // There is a gap where the log is cleaned, and where a leader knew nothing of the producer any more.
    const follows = newest !== undefined && baseSequence === sequenceAfter(newest.lastSequence, 1);
    if (!follows) state.firstSequence = baseSequence;
    else if (sequencesFrom(state.firstSequence, lastSequence) >= mostKnownSequences) {
      state.firstSequence = firstSequenceOf(state.batches[0] ?? newest);
    }
    if (follows && state.leaderEpoch === partitionLeaderEpoch) return;
    state.leaderEpoch = partitionLeaderEpoch;
    state.reignSequence = baseSequence;
  }

  /** Whether a marker may end a transaction. Throws INVALID_PRODUCER_EPOCH or TRANSACTION_COORDINATOR_FENCED. */
  checkMarker(batch: RecordBatch, coordinatorEpoch: number): void {
    const state = this.#known.get(batch.producerId);
    if (state === undefined) return;
    this.#checkEpoch(state, batch);
    if (coordinatorEpoch < state.coordinatorEpoch) {
      throw new ProtocolError(
        errorCodes.TRANSACTION_COORDINATOR_FENCED,
        `The marker for producer ${batch.producerId} comes from the coordinator epoch ${coordinatorEpoch}; it is ${state.coordinatorEpoch} now.`,
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
    if (firstOffset === undefined) return undefined;
    this.#open?.delete(firstOffset);
    this.#unreplicated.push({ firstOffset, lastOffset: baseOffset });
    return { producerId, firstOffset, lastOffset: baseOffset, isAborted: !marker.isCommit };
  }

  /** Up to where no open transaction can change anything, once this one has ended: what the transaction index has to say of it. */
  lastStableOffsetAfter(completed: CompletedTransaction): number {
    return this.firstOpenOffset() ?? completed.lastOffset + 1;
  }

  /** Starts from what a snapshot says. States that expired before `nowMs` are left out, unless a transaction is open. */
  restore(states: readonly ProducerState[], nowMs: number, expirationMs: number): void {
    this.clear();
    const open: ProducerState[] = [];
    for (const state of states) {
      const isOpen = state.transactionFirstOffset !== undefined;
      if (!isOpen && nowMs - state.lastTimestamp >= expirationMs) continue;
      this.#add(state);
      if (isOpen) open.push(state);
    }
    open.sort((a, b) => a.transactionFirstOffset! - b.transactionFirstOffset!);
    for (const { transactionFirstOffset } of open) this.#addOpen(transactionFirstOffset!);
  }

  removeExpired(nowMs: number, expirationMs: number): void {
    for (const [producerId, state] of this.#known) {
      if (state.transactionFirstOffset === undefined && nowMs - state.lastTimestamp >= expirationMs)
        this.#states?.delete(producerId);
    }
  }

  clear(): void {
    this.#states = undefined;
    this.#open = undefined;
    this.#unreplicated.length = 0;
  }

  #stateOf(producerId: number, producerEpoch: number): ProducerState {
    let state = this.#known.get(producerId);
    if (state === undefined) {
      state = {
        producerId,
        producerEpoch,
        batches: [],
        firstSequence: -1,
        leaderEpoch: -1,
        reignSequence: -1,
        coordinatorEpoch: -1,
        lastTimestamp: -1,
        transactionFirstOffset: undefined,
      };
      this.#add(state);
    }
    return state;
  }

  #add(state: ProducerState): void {
    this.#states ??= new Map();
    this.#states.set(state.producerId, state);
  }

  #addOpen(firstOffset: number): void {
    this.#open ??= new Set();
    this.#open.add(firstOffset);
  }

  get #known(): ReadonlyMap<number, ProducerState> {
    return this.#states ?? none;
  }

  get #openCount(): number {
    return this.#open?.size ?? 0;
  }
}

/** How far the second is ahead of the first. */
function sequencesFrom(first: number, second: number): number {
  return (second - first + allSequences) % allSequences;
}

export function firstSequenceOf(batch: BatchMetadata): number {
  const first = batch.lastSequence - batch.offsetDelta;
  return first < 0 ? first + 0x80000000 : first;
}

function outOfOrder(producerId: number, sequence: number, why: string): ProtocolError {
  return new ProtocolError(
    errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER,
    `Producer ${producerId} sent the sequence ${sequence} out of order: ${why}.`,
  );
}
