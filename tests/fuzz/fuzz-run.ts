// One run of the fuzzer against a broker: many connections send frames, each followed by a harmless question that must be
// answered, or the connection closed; a decent client beside them must not notice any of it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ApiVersionsRequest,
  buildRecordBatch,
  DeleteGroupsRequest,
  DeleteGroupsResponse,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  encodeToBuffer,
  errorCodes,
  FetchRequest,
  FetchResponse,
  iterateBatches,
  ListGroupsRequest,
  ListGroupsResponse,
  MetadataRequest,
  MetadataResponse,
  ProduceRequest,
  ProduceResponse,
  RequestHeader,
} from '@odradek/protocol';
import { SeededRandom } from '@odradek/runtime';
import { RawClient, uniqueName, until } from '@odradek/testing';
import { FrameMaker, type FuzzedFrame, type KnownTopic } from './frame-maker.ts';

export interface FuzzOptions {
  readonly host: string;
  readonly port: number;
  readonly frames: number;
  readonly seed: number;
  readonly connections?: number;
  /** The process of the broker, whose memory is watched. */
  readonly pid?: number;
  report?(progress: FuzzReport): void;
}

export interface FuzzReport {
  frames: number;
  /** Frames after which the connection went on. */
  answered: number;
  /** Frames after which the broker closed it. */
  closed: number;
  /** Frames after which nothing came: the broker rightly waits, for the rest of a frame or for what was asked to come. */
  waited: number;
  /** Requests of the decent client that were answered rightly meanwhile. */
  decent: number;
  residentMiBAfterWarmUp: number;
  residentMiB: number;
}

interface RunState {
  /** True once all frames are sent, or something failed. */
  isOver: boolean;
}

/** After this long without an answer the broker is told that no more will come: a frame cut short then ends the connection. */
const patienceMs = 30;
/** What asks the broker to wait, or may ask for it once a bit is flipped, is left after this much longer. */
const waitMs = 250;
/** The decent client need not be busier than this to notice a hang. */
const decentPauseMs = 5;
/** After so many rounds the decent client deletes what the frames created: some ten seconds. */
const tidyRounds = 500;
/** Longer than that without an answer on the decent connection is a hang. */
const decentTimeoutMs = 20_000;
const questionId = 0x5ea1ed;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const report: FuzzReport = {
    frames: 0,
    answered: 0,
    closed: 0,
    waited: 0,
    decent: 0,
    residentMiBAfterWarmUp: 0,
    residentMiB: 0,
  };
  const decent = await RawClient.connect({ host: options.host, port: options.port, timeoutMs: decentTimeoutMs });
  const topics = [await createdTopic(decent), await createdTopic(decent)];
  const own = await createdTopic(decent);
  const maker = new FrameMaker(new SeededRandom(options.seed), topics);
  const state: RunState = { isOver: false };
  const kept = new Set([...topics, own].map(({ name }) => name));
  const watching = watchDecently(decent, own, kept, state, report);
  const senders = Array.from({ length: options.connections ?? 8 }, () => sendFrames(options, maker, state, report));
  try {
    await Promise.race([Promise.all(senders), watching]);
    state.isOver = true;
    await watching;
    report.residentMiB = residentMiB(options.pid);
    return report;
  } finally {
    state.isOver = true;
    await decent.close();
    await Promise.allSettled([...senders, watching]);
  }
}

async function createdTopic(client: RawClient): Promise<KnownTopic> {
  const name = uniqueName('fuzz');
  const request = { topics: [{ name }], allowAutoTopicCreation: true };
  return until('the topic is there', async () => {
    const { topics } = await client.send(MetadataRequest, MetadataResponse, 12, request);
    return topics[0]?.errorCode === 0 && topics[0].partitions[0]?.errorCode === 0 && { name, topicId: topics[0].topicId };
  });
}

/**
 * Produces and reads back on a connection of its own, over and over, until the senders are done. Meanwhile it deletes what the frames
 * created, so that memory which grows is memory that leaks.
 */
async function watchDecently(
  client: RawClient,
  topic: KnownTopic,
  kept: ReadonlySet<string>,
  state: { readonly isOver: boolean },
  report: FuzzReport,
): Promise<void> {
  for (let round = 0; !state.isOver; round++) {
    const value = Buffer.from(`decent ${round}`);
    const records = buildRecordBatch({}, [{ value, timestamp: Date.now() }]);
    const topicData = [{ name: topic.name, partitionData: [{ index: 0, records }] }];
    const produced = await client.send(ProduceRequest, ProduceResponse, 9, { acks: -1, timeoutMs: 10_000, topicData });
    const partition = produced.responses[0]?.partitionResponses[0];
    assert.deepEqual([partition?.errorCode, partition?.baseOffset], [0, round], 'the decent client is undisturbed');
    const wanted = [{ partition: 0, fetchOffset: round, partitionMaxBytes: 100_000 }];
    const request = { maxWaitMs: 100, minBytes: 1, topics: [{ topic: topic.name, partitions: wanted }] };
    const fetched = await client.send(FetchRequest, FetchResponse, 12, request);
    const bytes = fetched.responses[0]?.partitions[0]?.records;
    const values = [...iterateBatches(bytes ?? Buffer.alloc(0))].flatMap((batch) => [...batch.records()].map((one) => one.value));
    assert.deepEqual(values, [value], 'the decent client reads what it wrote');
    report.decent += 2;
    if (round % tidyRounds === tidyRounds - 1) {
      await deleteTopicsBut(kept, client);
      await deleteGroups(client);
    }
    await delay(decentPauseMs);
  }
}

async function deleteTopicsBut(kept: ReadonlySet<string>, client: RawClient): Promise<void> {
  const { topics } = await client.send(MetadataRequest, MetadataResponse, 12, { topics: null });
  const names = topics.flatMap(({ name, isInternal }) => (name === null || isInternal || kept.has(name) ? [] : [name]));
  if (names.length > 0) {
    const wanted = names.map((name) => ({ name }));
    const { responses } = await client.send(DeleteTopicsRequest, DeleteTopicsResponse, 6, {
      topics: wanted,
      timeoutMs: decentTimeoutMs,
    });
    const failed = responses.filter(
      ({ errorCode }) => errorCode !== errorCodes.NONE && errorCode !== errorCodes.UNKNOWN_TOPIC_OR_PARTITION,
    );
    assert.deepEqual(failed, [], 'what the frames created can be deleted');
  }
}

/** A group in use stays, for the next time. */
async function deleteGroups(client: RawClient): Promise<void> {
  const { groups } = await client.send(ListGroupsRequest, ListGroupsResponse, 4, {});
  const groupsNames = groups.map(({ groupId }) => groupId);
  if (groupsNames.length > 0) {
    await client.send(DeleteGroupsRequest, DeleteGroupsResponse, 2, { groupsNames });
  }
}

async function sendFrames(options: FuzzOptions, maker: FrameMaker, state: RunState, report: FuzzReport): Promise<void> {
  let connection = await FuzzConnection.open(options);
  while (report.frames < options.frames && !state.isOver) {
    const frame = ++report.frames;
    const outcome = await connection.send(maker.next());
    report[outcome] += 1;
    if (outcome !== 'answered') {
      connection.close();
      connection = await FuzzConnection.open(options);
    }
    if (frame % 10_000 === 0) {
      report.residentMiB = residentMiB(options.pid);
      options.report?.(report);
    }
    if (frame === Math.round(options.frames / 4)) {
      report.residentMiBAfterWarmUp = residentMiB(options.pid);
    }
  }
  connection.close();
}

type Outcome = 'answered' | 'closed' | 'waited';

/** A harmless request with a number of its own, by which its answer is known among those to the fuzzed frames. */
const question = ((): Buffer => {
  const header = { requestApiKey: 18, requestApiVersion: 0, correlationId: questionId, clientId: 'fuzz' };
  const body = Buffer.concat([encodeToBuffer(RequestHeader, 1, header), encodeToBuffer(ApiVersionsRequest, 0, {})]);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
})();

class FuzzConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #settle: ((outcome: Outcome) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#take(chunk));
    // A reset is one way of being closed.
    socket.on('error', () => this.#settle?.('closed'));
    socket.on('close', () => this.#settle?.('closed'));
  }

  static open(options: FuzzOptions): Promise<FuzzConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: options.host, port: options.port, noDelay: true });
      socket.once('connect', () => {
        socket.removeAllListeners('error');
        resolve(new FuzzConnection(socket));
      });
      socket.once('error', (cause) => reject(new Error('the broker no longer accepts connections', { cause })));
    });
  }

  send(frame: FuzzedFrame): Promise<Outcome> {
    return new Promise((resolve) => {
      let timeout = setTimeout(() => {
        this.#socket.end();
        timeout = setTimeout(() => this.#settle?.('waited'), waitMs);
      }, patienceMs);
      this.#settle = (outcome) => {
        clearTimeout(timeout);
        this.#settle = undefined;
        resolve(outcome);
      };
      if (this.#socket.destroyed) {
        this.#settle('closed');
      } else {
        this.#socket.write(Buffer.concat([frame.bytes, question]));
      }
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= 8) {
      const size = 4 + this.#received.readInt32BE(0);
      if (this.#received.length < size) {
        return;
      }
      const isAnswer = this.#received.readInt32BE(4) === questionId;
      this.#received = this.#received.subarray(size);
      if (isAnswer) {
        this.#settle?.('answered');
      }
    }
  }
}

function residentMiB(pid: number | undefined): number {
  if (pid === undefined) {
    return 0;
  }
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
