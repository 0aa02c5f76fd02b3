// From a frame to its answer: finds handler and codec by API key and version, decodes, calls the handler, encodes. An error that a
// handler throws becomes an answer here and nowhere else. What cannot be answered closes the connection.
//
// Request   int16 API key, int16 version, int32 correlation id, client id, (tagged fields), body
// Answer    int32 size, int32 correlation id, (tagged fields), body

import {
  type Codec,
  codecFor,
  errorCodes,
  type Message,
  type MessageDefinition,
  type MessageInit,
  ProtocolError,
  Reader,
  RequestHeader,
  Writer,
} from '@odradek/protocol';
import type { Clock, Counter, Histogram, Logger, MetricsRegistry } from '@odradek/runtime';
import type { AnswerBytes, ConnectionIdentity, FrameHandler } from '../network/broker-connection.ts';
import type { AnswerThrottle, RequestCost } from './answer-throttle.ts';
import { CloseConnectionError } from './close-connection-error.ts';
import type { Answer, Handler } from './handler.ts';
import type { FrameLease, RequestContext } from './request-context.ts';

/** API key, version and correlation id. */
const fixedHeaderBytes = 8;

type AnyCodec = Codec<MessageDefinition>;

/** What there is for one version of one API, made when the first request of that version comes. */
interface VersionCodecs {
  readonly header: Codec<typeof RequestHeader>;
  readonly request: AnyCodec;
  readonly response: AnyCodec;
  readonly responseHeaderVersion: number;
}

interface Entry {
  readonly handler: Handler;
  readonly codecs: (VersionCodecs | undefined)[];
  readonly requests: Counter;
  readonly failures: Counter;
  readonly timeMs: Histogram;
}

export interface RequestRouterParts {
  readonly handlers: readonly Handler[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** Absent: nobody is held back. */
  readonly throttle?: AnswerThrottle;
}

const nobody: AnswerThrottle = { isActive: false, throttleMs: () => 0, addTime: () => undefined };

/** A request that is measured, because somebody has a quota. */
interface Measured {
  readonly request: Message<MessageDefinition>;
  readonly context: RequestContext;
  readonly lease: FrameLease;
  readonly requestBytes: number;
  /** How long the handler worked before it answered or waited for something. */
  busyMs: number;
}

export class RequestRouter implements FrameHandler {
  readonly #parts: RequestRouterParts;
  readonly #handlers = new Map<number, Handler>();
  readonly #entries = new Map<number, Entry>();
  /** One for all: a message is written from beginning to end without a break. */
  readonly #writer = new Writer();
  readonly #throttle: AnswerThrottle;

  constructor(parts: RequestRouterParts) {
    this.#parts = parts;
    this.#throttle = parts.throttle ?? nobody;
    for (const handler of parts.handlers) this.#handlers.set(handler.api.key, handler);
  }

  mayOverlap(frame: Buffer): boolean {
    return frame.length >= fixedHeaderBytes && this.#handlers.get(frame.readInt16BE(0))?.mayOverlap === true;
  }

  handle(frame: Buffer, connection: ConnectionIdentity, lease: FrameLease): AnswerBytes | Promise<AnswerBytes> {
    if (frame.length < fixedHeaderBytes) throw new CloseConnectionError(`a frame of ${frame.length} bytes is no request`);
    const apiKey = frame.readInt16BE(0);
    const apiVersion = frame.readInt16BE(2);
    const correlationId = frame.readInt32BE(4);
    const entry = this.#entries.get(apiKey) ?? this.#open(apiKey, apiVersion);
    entry.requests.value += 1;
    const { api } = entry.handler;
    if (apiVersion < api.stableVersions.min || apiVersion > api.stableVersions.max)
      return this.#unsupported(entry, apiVersion, correlationId, frame);
    const codecs = entry.codecs[apiVersion] ?? this.#openVersion(entry, apiVersion);
    const reader = new Reader(frame);
    let clientId: string | null = null;
    let request: Message<MessageDefinition>;
    try {
      clientId = codecs.header.read(reader).clientId;
      request = codecs.request.read(reader);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CloseConnectionError(
        `${api.name} version ${apiVersion} of client ${JSON.stringify(clientId)} cannot be read: ${reason}`,
      );
    }
    const context: RequestContext = {
      apiKey,
      apiVersion,
      correlationId,
      clientId,
      connectionId: connection.connectionId,
      clientAddress: connection.clientAddress,
      listenerName: connection.listenerName,
      securityProtocol: connection.securityProtocol,
      principal: connection.principal,
      isPrivileged: connection.isPrivileged,
      frame: lease,
    };
    const measured: Measured | undefined = this.#throttle.isActive
      ? { request, context, lease, requestBytes: frame.length, busyMs: 0 }
      : undefined;
    const startMs = this.#parts.clock.monotonicMs();
    let answer: Answer<MessageDefinition> | Promise<Answer<MessageDefinition>>;
    try {
      answer = entry.handler.handle(request, context);
    } catch (error) {
      answer = this.#failure(entry, request, error, context);
    }
    if (measured !== undefined) measured.busyMs = this.#parts.clock.monotonicMs() - startMs;
    if (!(answer instanceof Promise)) return this.#finish(entry, codecs, context, startMs, answer, measured);
    return answer.then(
      (body) => this.#finish(entry, codecs, context, startMs, body, measured),
      (error: unknown) => this.#finish(entry, codecs, context, startMs, this.#failure(entry, request, error, context), measured),
    );
  }

  #open(apiKey: number, apiVersion: number): Entry {
    const handler = this.#handlers.get(apiKey);
    if (handler === undefined) throw new CloseConnectionError(`the API key ${apiKey} (version ${apiVersion}) is not served`);
    const { metrics } = this.#parts;
    const labels = { api: handler.api.name };
    const entry: Entry = {
      handler,
      codecs: [],
      requests: metrics.counter('requests_total', labels),
      failures: metrics.counter('requests_failed_total', labels),
      timeMs: metrics.histogram('request_time_ms', labels),
    };
    this.#entries.set(apiKey, entry);
    return entry;
  }

  #openVersion(entry: Entry, apiVersion: number): VersionCodecs {
    const { api } = entry.handler;
    const codecs: VersionCodecs = {
      header: codecFor(RequestHeader, api.requestHeaderVersion(apiVersion)),
      request: codecFor(api.request, apiVersion),
      response: codecFor(api.response, apiVersion),
      responseHeaderVersion: api.responseHeaderVersion(apiVersion),
    };
    entry.codecs[apiVersion] = codecs;
    return codecs;
  }

  #unsupported(entry: Entry, apiVersion: number, correlationId: number, frame: Buffer): AnswerBytes {
    const { api, unsupportedVersion } = entry.handler;
    if (unsupportedVersion === undefined) {
      throw new CloseConnectionError(`${api.name} version ${apiVersion} of client ${peekClientId(frame)} is not served`);
    }
    const lowest = entry.codecs[api.stableVersions.min] ?? this.#openVersion(entry, api.stableVersions.min);
    return this.#encode(lowest, correlationId, unsupportedVersion());
  }

  /** The answer to a request that failed as a whole. */
  #failure(
    entry: Entry,
    request: Message<MessageDefinition>,
    error: unknown,
    context: RequestContext,
  ): MessageInit<MessageDefinition> {
    if (error instanceof CloseConnectionError) throw error;
    entry.failures.value += 1;
    if (error instanceof ProtocolError) return entry.handler.errorResponse(request, error, context);
    const { apiVersion, clientId, clientAddress } = context;
    const fields = { version: apiVersion, client: clientId, address: clientAddress, error };
    this.#parts.logger.error(`Handling ${entry.handler.api.name} failed unexpectedly`, fields);
    return entry.handler.errorResponse(request, new ProtocolError(errorCodes.UNKNOWN_SERVER_ERROR), context);
  }

  #finish(
    entry: Entry,
    codecs: VersionCodecs,
    context: RequestContext,
    startMs: number,
    body: Answer<MessageDefinition>,
    measured: Measured | undefined,
  ): AnswerBytes {
    entry.timeMs.observe(this.#parts.clock.monotonicMs() - startMs);
    if (measured !== undefined) return this.#finishMeasured(codecs, body, measured);
    return body === null ? null : this.#encode(codecs, context.correlationId, body);
  }

  /** The handler itself may have said that the client has to wait. */
  #finishMeasured(codecs: VersionCodecs, body: Answer<MessageDefinition>, measured: Measured): AnswerBytes {
    const { request, context, lease, requestBytes, busyMs } = measured;
    const cost: RequestCost = { requestBytes, busyMs, isAnswered: body !== null };
    const throttleTimeMs = Math.max(throttleTimeIn(body), this.#throttle.throttleMs(request, context, cost));
    lease.muteMs = throttleTimeMs;
    if (body === null) return null;
    const startMs = this.#parts.clock.monotonicMs();
    const bytes = this.#encode(codecs, context.correlationId, throttleTimeMs > 0 ? withThrottleTime(body, throttleTimeMs) : body);
    this.#throttle.addTime(request, context, this.#parts.clock.monotonicMs() - startMs);
    return bytes;
  }

  #encode(codecs: VersionCodecs, correlationId: number, body: MessageInit<MessageDefinition>): AnswerBytes {
    const writer = this.#writer;
    try {
      writer.int32(0);
      writer.int32(correlationId);
      if (codecs.responseHeaderVersion > 0) writer.unsignedVarint(0);
      codecs.response.write(writer, body);
      writer.patchInt32(0, writer.size - 4);
      return writer.chunks();
    } finally {
      writer.reset();
    }
  }
}

/** Nearly all answers have the field, and the codec passes over it in those that have not. */
function throttleTimeIn(body: Answer<MessageDefinition>): number {
  return (body as { readonly throttleTimeMs?: number } | null)?.throttleTimeMs ?? 0;
}

function withThrottleTime(body: MessageInit<MessageDefinition>, throttleTimeMs: number): MessageInit<MessageDefinition> {
  return { ...body, throttleTimeMs };
}

/** The client id of a request whose version is not known: all headers but one begin with it. For log lines. */
function peekClientId(frame: Buffer): string {
  if (frame.length < fixedHeaderBytes + 2) return 'null';
  const length = frame.readInt16BE(fixedHeaderBytes);
  if (length < 0) return 'null';
  return JSON.stringify(frame.toString('utf8', fixedHeaderBytes + 2, fixedHeaderBytes + 2 + Math.min(length, 200)));
}
