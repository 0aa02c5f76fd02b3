// Makes frames that no decent client would send, from a seed: requests drawn at random in every version, the same with
// bits flipped, bytes cut, doubled or overwritten, and plain noise.

import {
  type Api,
  apis,
  buildLegacyBatch,
  buildRecordBatch,
  compressionTypes,
  encodeToBuffer,
  RequestHeader,
} from '@odradek/protocol';
import type { Random } from '@odradek/runtime';
import { randomMessage } from '@odradek/testing';

export interface FuzzedFrame {
  /** What it is, for the report of a failure. */
  readonly what: string;
  /** With the length before it, right or wrong. */
  readonly bytes: Buffer;
}

/** Topics that exist, so that some requests get deep into the broker. */
export interface KnownTopic {
  readonly name: string;
  readonly topicId: string;
}

/** A broker may wait this long when it is asked to; frames are drawn so that they do not ask for more. */
const longestWaitMs = 20;
const waits = new Set([
  'maxWaitMs',
  'timeoutMs',
  'transactionTimeoutMs',
  'sessionTimeoutMs',
  'rebalanceTimeoutMs',
  'maxWaitTimeMs',
]);
/** So that not every second request makes a hundred partitions. */
const counts = new Set(['numPartitions', 'count']);
const topicNames = new Set(['name', 'topic', 'topicName', 'resourceName', 'groupId', 'key']);

const extremes = [0, 1, -1, 2, 127, 128, 255, 0x7fff, 0x8000, 0x7fffffff, -0x80000000, 0x7ffffff0, 1_000_000];

export class FrameMaker {
  readonly #random: Random;
  readonly #topics: readonly KnownTopic[];
  /** Every API and version there is, one after the other, so that none is left out. */
  readonly #pairs: readonly (readonly [Api, number])[];
  #turn = 0;

  constructor(random: Random, topics: readonly KnownTopic[]) {
    this.#random = random;
    this.#topics = topics;
    this.#pairs = apis.flatMap((api) =>
      Array.from({ length: api.versions.max - api.versions.min + 1 }, (_, index) => [api, api.versions.min + index] as const),
    );
  }

  next(): FuzzedFrame {
    const [api, version] = this.#pairs[this.#turn++ % this.#pairs.length] as readonly [Api, number];
    const kind = this.#random.nextInt(10);
    if (kind === 0) {
      return { what: 'noise', bytes: this.#noise() };
    }
    const request = this.#request(api, version);
    const what = `${api.name} ${version}`;
    if (kind < 4) {
      return { what, bytes: withLength(request) };
    }
    const mutated = this.#mutate(request);
    if (kind === 9) {
      return { what: `${what}, wrong length`, bytes: Buffer.concat([this.#int32(), mutated]) };
    }
    return { what: `${what}, mutated`, bytes: withLength(mutated) };
  }

  #request(api: Api, version: number): Buffer {
    const headerVersion = api.requestHeaderVersion(version);
    const header = {
      requestApiKey: api.key,
      requestApiVersion: version,
      correlationId: this.#random.nextInt(1_000_000),
      ...(headerVersion > 0 && { clientId: this.#random.nextInt(5) === 0 ? null : 'fuzz' }),
    };
    const message = this.#season(randomMessage(api.request, version, this.#random)) as Record<string, never>;
    return Buffer.concat([encodeToBuffer(RequestHeader, headerVersion, header), encodeToBuffer(api.request, version, message)]);
  }

  /** Puts what exists in the place of what was drawn, here and there. */
  #season(value: unknown, name = ''): unknown {
    if (Array.isArray(value)) {
      return value.map((element) => this.#season(element, name));
    }
    if (typeof value === 'object' && value !== null && !Buffer.isBuffer(value) && !(value instanceof Uint8Array)) {
      return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, this.#season(field, key)]));
    }
    if (typeof value === 'number' && waits.has(name)) {
      return Math.min(value, longestWaitMs);
    }
    if (typeof value === 'number' && counts.has(name) && this.#random.nextInt(20) > 0) {
      return Math.min(value, 3);
    }
    if (typeof value === 'string' && topicNames.has(name) && this.#random.nextInt(20) > 0) {
      return this.#topicName();
    }
    const topic = this.#topics[this.#random.nextInt(this.#topics.length)];
    if (topic !== undefined && this.#random.nextInt(2) === 0) {
      if (typeof value === 'string' && name === 'topicId') return topic.topicId;
      if (typeof value === 'number' && /^(index|partition(Index|Id)?|partitions)$/.test(name)) return this.#random.nextInt(2);
      if (name === 'records' && value !== null) return this.#records();
    }
    return value;
  }

  /** One that exists, or one of a hundred that come and go: what a broker keeps of topics must not hide what it leaks. */
  #topicName(): string {
    const topic = this.#topics[this.#random.nextInt(this.#topics.length)];
    return topic !== undefined && this.#random.nextInt(2) === 0 ? topic.name : `fuzz-${this.#random.nextInt(100)}`;
  }

  /** Batches of every format and codec, whole or damaged. */
  #records(): Buffer {
    const records = Array.from({ length: 1 + this.#random.nextInt(4) }, () => ({
      key: this.#random.nextInt(3) === 0 ? null : this.#random.bytes(this.#random.nextInt(10)),
      value: this.#random.bytes(this.#random.nextInt(60)),
      timestamp: this.#random.nextInt(1_000_000),
    }));
    const compression = compressionTypes[this.#random.nextInt(compressionTypes.length)] ?? 'none';
    const magic = this.#random.nextInt(4);
    const batch =
      magic < 2 && compression !== 'zstd'
        ? buildLegacyBatch({ magic: magic as 0 | 1, compression }, records)
        : buildRecordBatch({ compression, producerId: this.#random.nextInt(3) - 1, producerEpoch: 0, baseSequence: 0 }, records);
    return this.#random.nextInt(2) === 0 ? batch : this.#mutate(batch);
  }

  #mutate(bytes: Buffer): Buffer {
    let mutated: Buffer = Buffer.from(bytes);
    for (let times = 1 + this.#random.nextInt(3); times > 0; times--) {
      mutated = this.#mutateOnce(mutated);
    }
    return mutated;
  }

  #mutateOnce(bytes: Buffer): Buffer {
    const at = this.#random.nextInt(bytes.length + 1);
    switch (this.#random.nextInt(6)) {
      case 0: // one bit
        if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << this.#random.nextInt(8));
        return bytes;
      case 1: // one byte
        if (at < bytes.length) bytes[at] = this.#random.nextInt(256);
        return bytes;
      case 2: // cut
        return bytes.subarray(0, at);
      case 3: // an extreme number
        if (at + 4 <= bytes.length) this.#int32().copy(bytes, at);
        return bytes;
      case 4: {
        // a piece twice
        const piece = bytes.subarray(at, at + this.#random.nextInt(50));
        return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
      }
      default: // something more
        return Buffer.concat([bytes, this.#random.bytes(this.#random.nextInt(20))]);
    }
  }

  #noise(): Buffer {
    const noise = this.#random.bytes(this.#random.nextInt(100));
    return this.#random.nextInt(2) === 0 ? noise : withLength(noise);
  }

  #int32(): Buffer {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(extremes[this.#random.nextInt(extremes.length)] ?? 0);
    return bytes;
  }
}

function withLength(body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
}
