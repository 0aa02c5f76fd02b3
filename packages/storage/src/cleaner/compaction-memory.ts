// The memory that the compactions of a runner use one after the other. If each took its own, the garbage collector would be at work
// beside them, and its helpers have the priority of the thread that serves clients.

import { BatchWindow } from './batch-window.ts';

/** How much is cleared before others may go first. */
const clearedBytes = 1024 * 1024;

export class CompactionMemory {
  /** What has been cleaned and not been written. */
  readonly cleaned = new ScratchMemory();
  #slots = new Uint8Array(0);
  #window: BatchWindow | undefined;
  #windowBytes = 0;

  window(sizeBytes: number): BatchWindow {
    if (this.#window === undefined || this.#windowBytes !== sizeBytes) this.#window = new BatchWindow(sizeBytes);
    this.#windowBytes = sizeBytes;
    return this.#window;
  }

  /** For a map of keys: zeros, at least as many bytes. Valid until the next call. */
  slots(sizeBytes: number, giveWay?: () => void): ArrayBuffer {
    if (this.#slots.length < sizeBytes) this.#slots = new Uint8Array(sizeBytes);
    else {
      for (let start = 0; start < sizeBytes; start += clearedBytes) {
        this.#slots.fill(0, start, Math.min(sizeBytes, start + clearedBytes));
        giveWay?.();
      }
    }
    return this.#slots.buffer;
  }
}

/** Taken in pieces, given back all at once. */
export class ScratchMemory {
  #memory = Buffer.alloc(0);
  #takenBytes = 0;

  /** Valid until `giveBack`; holds anything. */
  take(sizeBytes: number): Buffer {
    if (this.#memory.length - this.#takenBytes < sizeBytes) {
      // Those who have taken the old memory still hold it.
      this.#memory = Buffer.allocUnsafeSlow(Math.max(sizeBytes, this.#memory.length * 2));
      this.#takenBytes = 0;
    }
    const start = this.#takenBytes;
    this.#takenBytes += sizeBytes;
    return this.#memory.subarray(start, this.#takenBytes);
  }

  giveBack(): void {
    this.#takenBytes = 0;
  }
}
