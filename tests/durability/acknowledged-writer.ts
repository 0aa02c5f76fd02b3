// A producer that remembers what was acknowledged. When its broker dies it connects again and goes on: an idempotent one
// sends the batch in doubt again, as it was, until it is acknowledged; a plain one leaves it in doubt and begins the next.

import {
  buildRecordBatch,
  errorByCode,
  InitProducerIdRequest,
  InitProducerIdResponse,
  ProduceRequest,
  ProduceResponse,
} from '@odradek/protocol';
import { ConnectionClosedError, RawClient, until } from '@odradek/testing';

export interface WriterOptions {
  readonly port: number;
  readonly name: string;
  readonly topic: string;
  readonly partition: number;
  readonly isIdempotent: boolean;
  readonly recordsPerBatch: number;
  readonly recordBytes: number;
}

interface Batch {
  readonly values: readonly string[];
  readonly bytes: Buffer;
}

export class AcknowledgedWriter {
  readonly name: string;
  readonly partition: number;
  readonly isIdempotent: boolean;
  /** In the order of their acknowledgement, which is that of their sending. */
  readonly acknowledged: string[] = [];
  /** Sent, and never answered: each may be there or not. */
  readonly inDoubt = new Set<string>();
  readonly #options: WriterOptions;
  #isStopped = false;
  #sequence = 0;
  #producerId = -1;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.name = options.name;
    this.partition = options.partition;
    this.isIdempotent = options.isIdempotent;
  }

  /** Ends `run` after the batch that is under way. */
  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<void> {
    let client = await this.#connect();
    try {
      let batch = this.#nextBatch();
      while (!this.#isStopped) {
        const answer = await this.#send(client, batch);
        if (answer === 'acknowledged') {
          this.acknowledged.push(...batch.values);
          batch = this.#nextBatch();
        } else if (answer === 'gone') {
          await client.close();
          client = await this.#connect();
          if (!this.isIdempotent) {
            for (const value of batch.values) this.inDoubt.add(value);
            batch = this.#nextBatch();
          }
        }
      }
      // What was drawn and never sent is nobody's; what was sent before the end was awaited.
    } finally {
      await client.close();
    }
  }

  async #connect(): Promise<RawClient> {
    return until(
      'the broker is back',
      async () => {
        const client = await RawClient.connect({ port: this.#options.port });
        if (this.isIdempotent && this.#producerId < 0) {
          const request = { transactionalId: null, transactionTimeoutMs: 60_000, producerId: -1, producerEpoch: -1 };
          this.#producerId = (await client.send(InitProducerIdRequest, InitProducerIdResponse, 4, request)).producerId;
        }
        return client;
      },
      { everyMs: 5 },
    );
  }

  #nextBatch(): Batch {
    const { name, recordsPerBatch, recordBytes, isIdempotent } = this.#options;
    const first = this.#sequence;
    this.#sequence += recordsPerBatch;
    const values = Array.from({ length: recordsPerBatch }, (_, index) => `${name}:${first + index}`);
    const records = values.map((value) => ({ value: Buffer.from(value.padEnd(recordBytes, ' ')), timestamp: Date.now() }));
    const producer = isIdempotent ? { producerId: this.#producerId, producerEpoch: 0, baseSequence: first } : {};
    return { values, bytes: buildRecordBatch(producer, records) };
  }

  /** `again`: a broker that has just started does not lead the partition yet. */
  async #send(client: RawClient, batch: Batch): Promise<'acknowledged' | 'again' | 'gone'> {
    const { topic, partition } = this.#options;
    const topicData = [{ name: topic, partitionData: [{ index: partition, records: batch.bytes }] }];
    try {
      const request = { acks: -1, timeoutMs: 30_000, topicData };
      const { responses } = await client.send(ProduceRequest, ProduceResponse, 9, request);
      const answer = responses[0]?.partitionResponses[0];
      const error = errorByCode(answer?.errorCode ?? -1);
      if (error.name === 'NONE') return 'acknowledged';
      if (error.name === 'NOT_LEADER_OR_FOLLOWER' || error.name === 'UNKNOWN_TOPIC_OR_PARTITION') return 'again';
      throw new Error(`${this.name} was refused with ${error.name}: ${answer?.errorMessage}`);
    } catch (error) {
      if (error instanceof ConnectionClosedError) return 'gone';
      throw error;
    }
  }
}
