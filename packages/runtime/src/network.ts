// The network: byte streams with back-pressure. No event emitters: whoever opens a stream gives one receiver.

export interface StreamReceiver {
  /** Bytes arrived. They are the receiver's during the call only: whoever keeps them copies them. */
  onData(chunk: Buffer): void;
  /** The outgoing queue has been written after `write` returned false. */
  onDrain(): void;
  /** The peer has sent its end; what we still write may arrive. */
  onEnd(): void;
  /** The stream is gone, with the error if there was one. Called exactly once, last. */
  onClose(error: Error | undefined): void;
}

export interface ByteStream {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  /** Bytes accepted by `write` and not yet taken by the operating system. */
  readonly bufferedBytes: number;
  /** Sends the chunks in one vectored write. False: stop writing until `onDrain`. The chunks must not change before they are sent. */
  write(chunks: readonly Uint8Array[]): boolean;
  /** Stops reading: the peer is held back by TCP. */
  pause(): void;
  resume(): void;
  /** Sends what is queued, then our end. */
  end(): void;
  /** Drops the stream and what is queued. */
  destroy(error?: Error): void;
}

export interface Listener {
  /** The address bound; `port` is the real one where 0 was asked for. */
  readonly host: string;
  readonly port: number;
  /** Stops accepting. Open streams stay. */
  close(): Promise<void>;
}

export interface ListenOptions {
  /** Empty or `0.0.0.0`: every interface. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly backlog?: number;
  /** One connection could not be accepted (too many open files, …). Listening goes on. */
  readonly onAcceptError?: (error: Error) => void;
}

export interface Network {
  /** Calls `accept` for each new stream; the receiver it returns gets the stream's events. */
  listen(options: ListenOptions, accept: (stream: ByteStream) => StreamReceiver): Promise<Listener>;
  /** Opens a stream. Rejects with Node's system error (`ECONNREFUSED`, …) or after `timeoutMs`. */
  connect(
    options: { readonly host: string; readonly port: number; readonly timeoutMs?: number },
    receiver: (stream: ByteStream) => StreamReceiver,
  ): Promise<ByteStream>;
  /** The address of a host; undefined: nobody knows it. Absent where hosts are known by their names only. */
  lookup?(host: string): Promise<string | undefined>;
}
