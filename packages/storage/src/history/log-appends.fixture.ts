// What is appended to a log at random: by a leader and by a follower, in old formats, twice and out of order.

import assert from 'node:assert/strict';
import { errorCodes, type RecordBatch } from '@odradek/protocol';
import type { AppendInfo } from '../log/append-info.ts';
import { type AppendOrigin, validateForAppend } from '../log/append-validator.ts';
import { BatchMaker } from './batch-maker.fixture.ts';
import { batchOf } from './log-model.fixture.ts';
import type { LogOnDisk } from './log-on-disk.fixture.ts';

export class LogAppends {
  readonly #under: LogOnDisk;
  readonly #maker: BatchMaker;

  constructor(under: LogOnDisk) {
    this.#under = under;
    this.#maker = new BatchMaker(under.random, () => under.machine.clock.wallTimeMs());
  }

  append(): void {
    const { log, random } = this.#under;
    const batch = random.nextInt(3) === 0 ? this.#maker.plain() : this.#maker.ofProducer(log.activeProducers());
    this.#appendAsLeader(batch.bytes(), batch.isControl ? 'coordinator' : 'client', batch);
  }

  appendLegacy(): void {
    this.#appendAsLeader(Buffer.concat(this.#maker.legacy().map((batch) => batch.bytes())), 'client', undefined);
  }

  #appendAsLeader(sent: Buffer, origin: AppendOrigin, batch: RecordBatch | undefined): void {
    const { log, model, config, machine } = this.#under;
    const stamped = validateForAppend(Buffer.from(sent), {
      config,
      origin,
      nextOffset: model.endOffset,
      leaderEpoch: model.epoch,
      nowMs: machine.clock.wallTimeMs(),
    })!.batch.bytes();
    try {
      const info = log.appendAsLeader(Buffer.from(sent), { leaderEpoch: model.epoch, origin });
      if (info.isDuplicate && batch !== undefined) {
        this.#checkForgotten(batch, info);
        return;
      }
      const kept = model.keep(stamped, origin === 'client' && batch !== undefined ? sent : undefined);
      assert.equal(info.firstOffset, kept.baseOffset);
      assert.equal(info.lastOffset, kept.endOffset - 1);
      this.#under.settleLater(info, kept.endOffset);
    } catch (error) {
      this.#under.mustBeFull(error);
    }
  }

  /**
   * A crash that brings deleted records back brings back producers too that the log had forgotten, and that have begun at 0 again
   * since. What they send next may then repeat one of the old batches, or lie before all that the log remembers.
   */
  #checkForgotten(batch: RecordBatch, info: AppendInfo): void {
    const { model } = this.#under;
    assert.ok(model.knownFrom > 0, `${info.firstOffset} is no duplicate`);
    if (info.firstOffset >= 0) this.#checkDuplicate(batch, info);
    else this.#under.settleLater(info, info.lastOffset + 1);
  }

  #checkDuplicate(sent: RecordBatch, info: AppendInfo): void {
    const { model } = this.#under;
    const known = model.batches.find(({ baseOffset }) => baseOffset === info.firstOffset);
    assert.ok(known !== undefined, `${info.firstOffset} is no duplicate`);
    const { producerId, producerEpoch, baseSequence, lastSequence } = batchOf(known.bytes);
    assert.deepEqual(
      [producerId, producerEpoch, baseSequence, lastSequence],
      [sent.producerId, sent.producerEpoch, sent.baseSequence, sent.lastSequence],
    );
    assert.equal(info.lastOffset, known.endOffset - 1);
    this.#under.settleLater(info, known.endOffset);
  }

  /** A producer that has heard nothing sends its last batch again. */
  repeat(): void {
    const { log, model } = this.#under;
    const known = this.#oneOfProducers();
    const last = known === undefined ? undefined : model.lastOf(known.producerId);
    if (known === undefined || last?.sent === undefined) return;
    const batch = batchOf(last.sent) as RecordBatch;
    // What the log has forgotten it takes for something new, or for something lost.
    if (batch.lastSequence !== known.lastSequence || batch.producerEpoch !== known.producerEpoch) return;
    try {
      const info = log.appendAsLeader(Buffer.from(last.sent), { leaderEpoch: model.epoch, origin: 'client' });
      assert.ok(info.isDuplicate, `${last.baseOffset} was appended again`);
      this.#checkDuplicate(batch, info);
    } catch (error) {
      this.#under.mustBeFull(error);
    }
  }

  appendOutOfOrder(): void {
    const { log, model, disk } = this.#under;
    const known = this.#oneOfProducers();
    if (known === undefined || known.lastSequence < 0) return;
    const { producerId, producerEpoch, currentTxnStartOffset } = known;
    const isTransactional = currentTxnStartOffset >= 0;
    const append = (options: { producerEpoch: number; baseSequence: number }): void => {
      const batch = this.#maker.plain({ producerId, isTransactional, ...options });
      const info = log.appendAsLeader(batch.bytes(), { leaderEpoch: model.epoch, origin: 'client' });
      this.#checkForgotten(batch, info);
    };
    if (this.#under.isDiskFull || disk.hasFailed) return;
    const code = errorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER;
    try {
      append({ producerEpoch, baseSequence: known.lastSequence + 3 });
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, code);
    }
    assert.throws(() => append({ producerEpoch: producerEpoch + 1, baseSequence: 7 }), { code });
    if (producerEpoch === 0) return;
    assert.throws(() => append({ producerEpoch: producerEpoch - 1, baseSequence: 0 }), { code: errorCodes.INVALID_PRODUCER_EPOCH });
  }

  #oneOfProducers() {
    const { log, random } = this.#under;
    const producers = log.activeProducers();
    return producers[random.nextInt(Math.max(1, producers.length))];
  }

  /** What a leader would send: several batches with their offsets and epochs, perhaps with a gap as compaction leaves it. */
  appendAsFollower(): void {
    const { log, model, random } = this.#under;
    let offset = log.logEndOffset + (random.nextInt(4) === 0 ? random.nextInt(5) : 0);
    const batches: Buffer[] = [];
    if (random.nextInt(6) === 0) {
      batches.push(...this.#maker.legacy(offset).map((batch) => batch.bytes()));
      offset = batchOf(batches.at(-1)!).nextOffset;
    }
    for (let count = 1 + random.nextInt(3); count > 0; count--) {
      const isOfProducer = count === 1 && random.nextInt(2) === 0;
      const batch = isOfProducer ? this.#maker.ofProducer(log.activeProducers()) : this.#maker.plain();
      if (random.nextInt(5) === 0) model.epoch += 1;
      batch.setBaseOffset(offset);
      batch.setPartitionLeaderEpoch(model.epoch);
      offset = batch.nextOffset;
      batches.push(batch.bytes());
    }
    try {
      const info = log.appendAsFollower(Buffer.concat(batches));
      for (const batch of batches) model.keep(Buffer.from(batch));
      this.#under.settleLater(info, model.endOffset);
    } catch (error) {
      for (const batch of batches) model.mayBeWritten(batch);
      // The first of them may have been appended.
      for (const batch of batches) if (batchOf(batch).nextOffset <= log.logEndOffset) model.keep(Buffer.from(batch));
      this.#under.mustBeFull(error);
    }
  }
}
