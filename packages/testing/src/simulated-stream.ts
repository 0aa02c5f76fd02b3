// One end of a simulated stream. What it writes waits here, then is on its way, then waits at the peer until the peer reads:
//
//     write -> #outgoing  -- at most windowBytes on the way or unread -->  peer's #unread -> onData
//
// so that a peer which does not read holds the writer back, as TCP does.

import type { ByteStream, StreamReceiver } from '@odradek/runtime';
import type { SimulatedNetwork } from './simulated-network.ts';

const windowBytes = 64 * 1024;
/** From here on `write` says stop. */
const highWaterBytes = 64 * 1024;

/** `end` is the writer's last word; `reset` says that nobody is there to take what was sent. */
type Parcel = Buffer | 'end' | 'reset';

export interface StreamEnds {
  readonly machine: string;
  readonly port: number;
  readonly peer: string;
  readonly peerPort: number;
}

export class SimulatedStream implements ByteStream {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #network: SimulatedNetwork;
  #peer: SimulatedStream | undefined = undefined;
  #receiver: StreamReceiver | undefined = undefined;

  #outgoing: Parcel[] = [];
  #outgoingBytes = 0;
  #windowUsedBytes = 0;
  /** Nothing may arrive before what was sent before it. */
  #lastArrivalMs = 0;
  #isDrainOwed = false;
  /** Nothing may be written any more. */
  #isEnding = false;
  #isEndSent = false;

  #unread: Parcel[] = [];
  #isPaused = false;
  #isEndSeen = false;
  #isClosed = false;

  constructor(network: SimulatedNetwork, ends: StreamEnds) {
    this.#network = network;
    this.localAddress = ends.machine;
    this.localPort = ends.port;
    this.remoteAddress = ends.peer;
    this.remotePort = ends.peerPort;
  }

  get machine(): string {
    return this.localAddress;
  }

  join(peer: SimulatedStream): void {
    this.#peer = peer;
  }

  /** Nothing is read before. */
  attach(receiver: StreamReceiver): void {
    this.#receiver = receiver;
    this.#readOn();
  }

  get bufferedBytes(): number {
    return this.#outgoingBytes;
  }

  write(chunks: readonly Uint8Array[]): boolean {
    if (this.#isClosed || this.#isEnding) {
      return false; // As a real stream: onClose is on its way, or was.
    }
    for (const chunk of chunks) {
      if (chunk.byteLength > 0) {
        this.#outgoing.push(Buffer.from(chunk));
        this.#outgoingBytes += chunk.byteLength;
      }
    }
    this.pump();
    this.#isDrainOwed ||= this.#outgoingBytes >= highWaterBytes;
    return !this.#isDrainOwed;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#network.time.schedule(0, () => this.#tell(() => this.#readOn()));
    }
  }

  end(): void {
    if (!this.#isClosed && !this.#isEnding) {
      this.#isEnding = true;
      this.#outgoing.push('end');
      this.pump();
    }
  }

  destroy(error?: Error): void {
    if (!this.#isClosed) {
      // A system resets a stream whose program goes without having read everything; otherwise the peer sees an ordinary end.
      this.#dropOutgoing(this.#unread.length > 0 ? 'reset' : this.#isEndSent ? undefined : 'end');
      this.#close(error);
      this.pump();
    }
  }

  /** The machine died: the program on it hears nothing, the peer is told by the system that comes up after it. */
  crash(): void {
    this.#receiver = undefined;
    this.#dropOutgoing('reset');
    this.#close(undefined);
    this.pump();
  }

  /** Sends what may be sent. */
  pump(): void {
    const network = this.#network;
    while (
      this.#outgoing.length > 0 &&
      this.#windowUsedBytes < windowBytes &&
      !network.isBlocked(this.machine, this.remoteAddress)
    ) {
      const parcel = this.#outgoing.shift()!;
      if (!(parcel instanceof Buffer)) {
        this.#send(parcel);
      } else if (network.random.next() < network.faults.cutProbability) {
        this.#cut();
      } else if (parcel.byteLength > 1 && network.random.next() < network.faults.splitProbability) {
        const middle = 1 + network.random.nextInt(parcel.byteLength - 1);
        this.#send(parcel.subarray(0, middle));
        this.#send(parcel.subarray(middle));
      } else {
        this.#send(parcel);
      }
    }
    if (this.#isDrainOwed && this.#outgoingBytes === 0 && !this.#isClosed) {
      this.#isDrainOwed = false;
      network.time.schedule(0, () => this.#tell(() => this.#isClosed || this.#receiver?.onDrain()));
    }
    if (this.#isClosed && this.#outgoing.length === 0) {
      network.forget(this);
    }
  }

  #send(parcel: Parcel): void {
    const { time } = this.#network;
    if (parcel instanceof Buffer) {
      this.#outgoingBytes -= parcel.byteLength;
      this.#windowUsedBytes += parcel.byteLength;
    }
    const arrivalMs = Math.max(this.#lastArrivalMs, time.nowMs + this.#network.delayMs());
    this.#lastArrivalMs = arrivalMs;
    time.schedule(arrivalMs - time.nowMs, () => this.#peer!.#arrive(parcel));
    if (parcel === 'end') {
      this.#isEndSent = true;
      this.#closeWhenBothEnded();
    }
  }

  #arrive(parcel: Parcel): void {
    if (this.#isClosed) {
      this.#peer!.#acknowledge(parcel);
      if (parcel instanceof Buffer) {
        this.#send('reset');
      }
    } else if (parcel === 'reset') {
      this.#dropOutgoing(undefined);
      this.#close(networkError('ECONNRESET', 'read ECONNRESET'));
    } else {
      this.#unread.push(parcel);
      this.#tell(() => this.#readOn());
    }
  }

  #readOn(): void {
    while (this.#unread.length > 0 && this.#receiver !== undefined && !this.#isPaused && !this.#isClosed) {
      const parcel = this.#unread.shift()!;
      this.#peer!.#acknowledge(parcel);
      if (parcel === 'end') {
        this.#isEndSeen = true;
        this.#receiver.onEnd();
        this.#closeWhenBothEnded();
      } else if (parcel instanceof Buffer) {
        this.#receiver.onData(parcel);
        // They were lent for the call: whoever kept them reads rubbish from now on.
        parcel.fill(0xdb);
      }
    }
  }

  /** The peer has taken a parcel, or thrown it away: there is room for the next. */
  #acknowledge(parcel: Parcel): void {
    if (parcel instanceof Buffer) {
      this.#windowUsedBytes -= parcel.byteLength;
      this.pump();
    }
  }

  /** A chunk is lost for good: both ends find out. */
  #cut(): void {
    for (const end of [this, this.#peer!]) {
      end.#dropOutgoing(undefined);
      end.#close(networkError('ECONNRESET', 'read ECONNRESET'));
    }
  }

  #dropOutgoing(last: 'end' | 'reset' | undefined): void {
    this.#outgoing = last === undefined ? [] : [last];
    this.#outgoingBytes = 0;
  }

  #closeWhenBothEnded(): void {
    if (this.#isEndSeen && this.#isEndSent) {
      this.#close(undefined);
    }
  }

  #close(error: Error | undefined): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#network.time.schedule(0, () => this.#tell(() => this.#receiver?.onClose(error)));
    }
  }

  /** The program may be stopped, and hear of it only when it goes on. */
  #tell(action: () => unknown): void {
    this.#network.processOf(this.machine).run(() => void action());
  }
}

export function networkError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
