// Batches by chance, as producers of all ages, transaction coordinators and other brokers send them.

import {
  buildControlBatch,
  buildLegacyBatch,
  buildRecordBatch,
  type CompressionType,
  compressionTypes,
  iterateBatches,
  LegacyBatch,
  RecordBatch,
  type RecordBatchOptions,
  type RecordInit,
} from '@odradek/protocol';
import type { SeededRandom } from '@odradek/runtime';
import type { ActiveProducer } from '../log/producer-states.ts';

const producerIds = [7, 8, 9];
const legacyCodecs: readonly CompressionType[] = ['none', 'none', 'gzip', 'snappy', 'lz4'];

export class BatchMaker {
  readonly #random: SeededRandom;
  readonly #nowMs: () => number;

  constructor(random: SeededRandom, nowMs: () => number) {
    this.#random = random;
    this.#nowMs = nowMs;
  }

  /** Of no producer that is known by a number. */
  plain(options: RecordBatchOptions = {}): RecordBatch {
    const compression = this.#oneOf(['none', 'none', ...compressionTypes]);
    return new RecordBatch(buildRecordBatch({ ...options, compression }, this.#records()), 0);
  }

  /** The next of a producer: records in or outside of a transaction, or a marker. */
  ofProducer(producers: readonly ActiveProducer[]): RecordBatch {
    const producerId = this.#oneOf(producerIds);
    const known = producers.find((each) => each.producerId === producerId);
    const producerEpoch = known?.producerEpoch ?? 0;
    const isOpen = known !== undefined && known.currentTxnStartOffset >= 0;
    if (isOpen && this.#random.nextInt(3) === 0) {
      return new RecordBatch(
        buildControlBatch({
          type: this.#oneOf(['commit', 'abort']),
          producerId,
          producerEpoch,
          coordinatorEpoch: 0,
          timestamp: this.#nowMs(),
        }),
        0,
      );
    }
    const lastSequence = known?.lastSequence ?? -1;
    const isNewEpoch = !isOpen && this.#random.nextInt(5) === 0;
    return this.plain({
      producerId,
      producerEpoch: isNewEpoch ? producerEpoch + 1 : producerEpoch,
      baseSequence: isNewEpoch || lastSequence < 0 ? 0 : lastSequence + 1,
      isTransactional: isOpen || this.#random.nextInt(3) === 0,
    });
  }

  /** What a producer from before record batches sends: several messages, or one that wraps them. */
  legacy(baseOffset = 0): LegacyBatch[] {
    const magic = this.#oneOf([0, 1] as const);
    const compression = this.#oneOf(legacyCodecs);
    const bytes = buildLegacyBatch({ magic, compression, baseOffset }, this.#records());
    return [...iterateBatches(bytes)].map((batch) => new LegacyBatch(Buffer.from(batch.bytes()), 0));
  }

  #records(): RecordInit[] {
    const nowMs = this.#nowMs();
    return Array.from({ length: 1 + this.#random.nextInt(4) }, () => ({
      timestamp: nowMs - this.#random.nextInt(1000),
      key: Buffer.from('key'),
      value: this.#random.bytes(this.#oneOf([1, 50, 300])),
    }));
  }

  #oneOf<const T>(values: readonly T[]): T {
    return values[this.#random.nextInt(values.length)] as T;
  }
}
