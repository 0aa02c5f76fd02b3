// The real network: TCP through Node's sockets, whose events become calls of one receiver.

import { lookup } from 'node:dns/promises';
import { createServer, isIPv4, type Server, Socket, type SocketConstructorOpts } from 'node:net';
import type { ByteStream, Listener, ListenOptions, Network, StreamReceiver } from './network.ts';

export interface NodeNetworkOptions {
  /** Lets the system find out, after hours, that an idle peer is gone. Default true, as Kafka has it. */
  readonly keepAlive?: boolean;
}

/**
 * All sockets read into one buffer, one after the other: what arrived is used or copied before the next is read. Without it
 * Node would make a buffer of 64 KiB for each read, and half of a busy broker's time would go into collecting them.
 */
const readBufferBytes = 64 * 1024;

export class NodeNetwork implements Network {
  readonly #keepAlive: boolean;
  readonly #readBuffer = Buffer.allocUnsafeSlow(readBufferBytes);

  constructor(options: NodeNetworkOptions = {}) {
    this.#keepAlive = options.keepAlive ?? true;
  }

  listen(options: ListenOptions, accept: (stream: ByteStream) => StreamReceiver): Promise<Listener> {
    // Half-open: a peer that has sent its last request and its end still gets its answers.
    const settings = { allowHalfOpen: true, noDelay: true, keepAlive: this.#keepAlive, pauseOnConnect: true };
    const server = createServer(settings, (accepted) => {
      let receiver: StreamReceiver | undefined;
      const socket = withReadBuffer(accepted, this.#readBuffer, (chunk) => receiver?.onData(chunk));
      const stream = new NodeStream(socket);
      receiver = accept(stream);
      stream.attach(receiver);
      // Reading begins only now, unless the receiver has already asked for a pause.
      stream.start();
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      // Without a host Node listens on every address of both families.
      const host = options.host === '' ? {} : { host: options.host };
      const backlog = options.backlog === undefined ? {} : { backlog: options.backlog };
      server.listen({ port: options.port, ...host, ...backlog }, () => {
        server.off('error', reject);
        // Accepting one connection failed (too many open files). The peer has been refused; the next one may succeed.
        server.on('error', (error) => options.onAcceptError?.(error));
        resolve(listenerOf(server));
      });
    });
  }

  connect(
    options: { readonly host: string; readonly port: number; readonly timeoutMs?: number },
    receiver: (stream: ByteStream) => StreamReceiver,
  ): Promise<ByteStream> {
    let events: StreamReceiver | undefined;
    const callback = (size: number): boolean => {
      events?.onData(this.#readBuffer.subarray(0, size));
      return true;
    };
    const settings = { allowHalfOpen: true, onread: { buffer: this.#readBuffer, callback } };
    const socket = new Socket(settings as SocketConstructorOpts);
    const opening = openStream(socket, 'connect', options, (stream) => {
      socket.setNoDelay(true);
      socket.setKeepAlive(this.#keepAlive);
      events = receiver(stream);
      return events;
    });
    socket.connect({ host: options.host, port: options.port });
    return opening;
  }

  async lookup(host: string): Promise<string | undefined> {
    try {
      return plainAddress((await lookup(host)).address);
    } catch {
      // Whatever the reason, there is no address now.
      return undefined;
    }
  }
}

/** The stream over a socket that is being connected; `readyEvent` says that it is. */
export function openStream(
  socket: Socket,
  readyEvent: 'connect' | 'secureConnect',
  { host, port, timeoutMs }: { readonly host: string; readonly port: number; readonly timeoutMs?: number },
  receiver: (stream: ByteStream) => StreamReceiver,
): Promise<ByteStream> {
  return new Promise((resolve, reject) => {
    const timeout =
      timeoutMs === undefined
        ? undefined
        : setTimeout(
            () => socket.destroy(systemError('ETIMEDOUT', `connect ETIMEDOUT ${host}:${port} after ${timeoutMs} ms`)),
            timeoutMs,
          );
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(timeout);
      reject(systemError('ECONNRESET', `connect ECONNRESET ${host}:${port}`));
    });
    socket.once(readyEvent, () => {
      clearTimeout(timeout);
      socket.off('error', reject);
      const stream = new NodeStream(socket);
      const events = receiver(stream);
      stream.attach(events);
      socket.on('data', (chunk: Buffer) => events.onData(chunk));
      resolve(stream);
    });
  });
}

class NodeStream implements ByteStream {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Kept here because a socket forgets them when it closes. A peer that is already gone leaves them unknown from the start.
    this.remoteAddress = plainAddress(socket.remoteAddress);
    this.remotePort = socket.remotePort ?? 0;
    this.localAddress = plainAddress(socket.localAddress);
    this.localPort = socket.localPort ?? 0;
  }

  attach(receiver: StreamReceiver): void {
    const socket = this.#socket;
    let failure: Error | undefined;
    socket.on('drain', () => receiver.onDrain());
    socket.on('end', () => receiver.onEnd());
    socket.on('error', (error) => {
      failure ??= error;
    });
    socket.on('close', () => receiver.onClose(failure));
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  write(chunks: readonly Uint8Array[]): boolean {
    const socket = this.#socket;
    if (!socket.writable) {
      return false; // Ended or gone: onClose is on its way, or was.
    }
    // Corked, the chunks go down in one writev; copying them together first costs more (measured with 64 chunks of 1 KiB).
    socket.cork();
    for (const chunk of chunks) {
      socket.write(chunk);
    }
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  /** Begins to read, unless told to pause before. */
  start(): void {
    if (!this.#socket.isPaused()) this.#socket.resume();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  destroy(error?: Error): void {
    this.#socket.destroy(error);
  }
}

/**
 * The accepted connection as a socket that reads into the given buffer. Node offers that (`onread`) only for sockets that the program
 * makes itself, so this makes one around the handle of the accepted one, as Node does when it hands sockets to child processes.
 */
function withReadBuffer(accepted: Socket, buffer: Buffer, onData: (chunk: Buffer) => void): Socket {
  const internals = accepted as unknown as { _handle: unknown };
  const handle = internals._handle;
  internals._handle = null;
  const options = {
    handle,
    allowHalfOpen: true,
    onread: {
      buffer,
      callback: (size: number): boolean => {
        onData(buffer.subarray(0, size));
        return true;
      },
    },
  };
  return new Socket(options as SocketConstructorOpts);
}

function listenerOf(server: Server): Listener {
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error('A TCP server has an address and a port');
  }
  return {
    host: address.address,
    port: address.port,
    close: () => {
      // The port is free when close returns; its callback would wait for the open streams too.
      server.close();
      return Promise.resolve();
    },
  };
}

/** An IPv4 peer of a socket that serves both families comes as `::ffff:127.0.0.1`. */
function plainAddress(address: string | undefined): string {
  const mapped = address?.startsWith('::ffff:') ? address.slice('::ffff:'.length) : undefined;
  return mapped !== undefined && isIPv4(mapped) ? mapped : (address ?? '');
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
