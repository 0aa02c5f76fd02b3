// Text for standard output, written in large pieces and no faster than whoever reads it takes them.

import { once } from 'node:events';
import type { Writable } from 'node:stream';

const pieceLength = 64 * 1024;

export class TextOutput {
  readonly #stream: Writable;
  #text = '';

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  print(text: string): void {
    this.#text += text;
  }

  line(text = ''): void {
    this.#text += `${text}\n`;
  }

  /** Nothing to wait for as long as there is little. Call it now and then. */
  settle(): Promise<void> | undefined {
    return this.#text.length < pieceLength ? undefined : this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    if (text !== '' && !this.#stream.write(text)) await once(this.#stream, 'drain');
  }
}
