// What every Network does, real or simulated.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ByteStream, Listener, Network, StreamReceiver } from '@odradek/runtime';

export interface NetworkUnderTest {
  readonly network: Network;
  /** Lets the world go on until the promise is settled. */
  run<T>(promise: Promise<T>): Promise<T>;
  runUntil(condition: () => boolean): Promise<void>;
}

/** One end of a stream with all that it heard. */
class Recorder implements StreamReceiver {
  readonly stream: ByteStream;
  readonly chunks: Buffer[] = [];
  readonly events: string[] = [];
  closedWith: Error | undefined = undefined;

  constructor(stream: ByteStream) {
    this.stream = stream;
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }

  get bytes(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  }

  get isClosed(): boolean {
    return this.events.at(-1) === 'close';
  }

  onData(chunk: Buffer): void {
    this.chunks.push(Buffer.from(chunk));
    if (this.events.at(-1) !== 'data') {
      this.events.push('data');
    }
  }

  onDrain(): void {
    this.events.push('drain');
  }

  onEnd(): void {
    this.events.push('end');
  }

  onClose(error: Error | undefined): void {
    this.events.push('close');
    this.closedWith = error;
  }
}

export function networkContract(name: string, create: () => NetworkUnderTest): void {
  /** A listener and one stream to it. */
  async function connected(under: NetworkUnderTest): Promise<{ listener: Listener; near: Recorder; far: Recorder }> {
    let far: Recorder | undefined;
    let near: Recorder | undefined;
    const accept = (stream: ByteStream): Recorder => {
      far = new Recorder(stream);
      return far;
    };
    const listener = await under.run(under.network.listen({ host: '127.0.0.1', port: 0 }, accept));
    await under.run(
      under.network.connect({ host: '127.0.0.1', port: listener.port, timeoutMs: 10_000 }, (stream) => {
        near = new Recorder(stream);
        return near;
      }),
    );
    await under.runUntil(() => far !== undefined);
    return { listener, near: near!, far: far! };
  }

  describe(`network: ${name}`, () => {
    test('a stream knows the addresses of both its ends', async () => {
      const under = create();
      const { listener, near, far } = await connected(under);
      assert.ok(listener.port > 0);
      assert.equal(near.stream.remotePort, listener.port);
      assert.equal(far.stream.localPort, listener.port);
      assert.equal(far.stream.remotePort, near.stream.localPort);
      assert.equal(far.stream.remoteAddress, '127.0.0.1');
      assert.equal(near.stream.localAddress, '127.0.0.1');
      near.stream.destroy();
      far.stream.destroy();
      await under.runUntil(() => near.isClosed && far.isClosed);
      await under.run(listener.close());
    });

    test('bytes arrive in order, both ways, whatever their chunks were', async () => {
      const under = create();
      const { listener, near, far } = await connected(under);
      near.stream.write([Buffer.from('one '), Buffer.from(''), Buffer.from('two ')]);
      near.stream.write([Buffer.from('three')]);
      far.stream.write([Buffer.from('answer')]);
      await under.runUntil(() => far.text === 'one two three' && near.text === 'answer');
      near.stream.end();
      far.stream.end();
      await under.runUntil(() => near.isClosed && far.isClosed);
      await under.run(listener.close());
    });

    test('a peer that has sent its end still gets the answer', async () => {
      const under = create();
      const { listener, near, far } = await connected(under);
      near.stream.write([Buffer.from('question')]);
      near.stream.end();
      await under.runUntil(() => far.events.includes('end'));
      far.stream.write([Buffer.from('answer')]);
      far.stream.end();
      await under.runUntil(() => near.isClosed && far.isClosed);
      assert.equal(near.text, 'answer');
      assert.deepEqual(near.events, ['data', 'end', 'close']);
      assert.deepEqual(far.events, ['data', 'end', 'close']);
      assert.equal(near.closedWith, undefined);
      assert.equal(far.closedWith, undefined);
      await under.run(listener.close());
    });

    test('a peer that does not read holds the writer back; onDrain says when to go on', async () => {
      const under = create();
      const { listener, near, far } = await connected(under);
      far.stream.pause();
      const chunk = Buffer.alloc(1024 * 1024, 7);
      let written = 0;
      while (near.stream.write([chunk])) {
        written += chunk.byteLength;
      }
      written += chunk.byteLength;
      while (near.stream.bufferedBytes === 0 && written < 2 ** 28) {
        near.stream.write([chunk]);
        written += chunk.byteLength;
      }
      assert.ok(near.stream.bufferedBytes > 0);
      assert.ok(!near.events.includes('drain'));
      far.stream.resume();
      await under.runUntil(() => near.events.includes('drain') && far.bytes === written);
      assert.equal(near.stream.bufferedBytes, 0);
      near.stream.destroy();
      await under.runUntil(() => near.isClosed);
      far.stream.destroy();
      await under.runUntil(() => far.isClosed);
      await under.run(listener.close());
    });

    test('a destroyed stream closes once with its error, and its peer hears of it', async () => {
      const under = create();
      const { listener, near, far } = await connected(under);
      near.stream.destroy(new Error('enough'));
      near.stream.destroy(new Error('twice'));
      assert.equal(near.stream.write([Buffer.from('late')]), false);
      await under.runUntil(() => near.isClosed && (far.isClosed || far.events.includes('end')));
      far.stream.destroy();
      await under.runUntil(() => far.isClosed);
      assert.equal(near.closedWith?.message, 'enough');
      assert.equal(near.events.filter((event) => event === 'close').length, 1);
      assert.equal(far.text, '');
      await under.run(listener.close());
    });

    test('writing to a peer that is gone closes the stream with an error', async () => {
      const under = create();
      const { listener, near, far } = await connected(under);
      far.stream.destroy();
      await under.runUntil(() => far.isClosed && near.events.includes('end'));
      near.stream.write([Buffer.from('into the void')]);
      await under.runUntil(() => {
        near.stream.write([Buffer.from('again')]);
        return near.isClosed;
      });
      assert.match(String((near.closedWith as NodeJS.ErrnoException | undefined)?.code), /ECONNRESET|EPIPE/);
      await under.run(listener.close());
    });

    test('connecting to a port that nobody listens on is refused', async () => {
      const under = create();
      const { listener, near, far } = await connected(under);
      await under.run(listener.close());
      const refused = under.network.connect({ host: '127.0.0.1', port: listener.port }, (stream) => new Recorder(stream));
      await assert.rejects(under.run(refused), { code: 'ECONNREFUSED' });
      // The stream from before the listener closed is still good.
      near.stream.write([Buffer.from('still here')]);
      await under.runUntil(() => far.text === 'still here');
      near.stream.end();
      far.stream.end();
      await under.runUntil(() => near.isClosed && far.isClosed);
    });

    test('a port is listened on once', async () => {
      const under = create();
      const { listener, near, far } = await connected(under);
      const second = under.network.listen({ host: '127.0.0.1', port: listener.port }, (stream) => new Recorder(stream));
      await assert.rejects(under.run(second), { code: 'EADDRINUSE' });
      near.stream.destroy();
      far.stream.destroy();
      await under.runUntil(() => near.isClosed && far.isClosed);
      await under.run(listener.close());
    });
  });
}
