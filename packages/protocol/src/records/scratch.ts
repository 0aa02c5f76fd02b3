// Memory for what is decompressed only to be looked at. A broker checks the records of every compressed batch that it is
// sent, and fresh memory for each would cost more than some of the codecs.

export type Allocate = (size: number) => Buffer;

/** What the largest batch takes at the default message.max.bytes, not compressed. */
const keptBytes = 1024 * 1024;

let kept: Buffer | undefined;

/** Uninitialised bytes, the caller's until the next call. */
export function scratch(size: number): Buffer {
  if (size > keptBytes) return Buffer.allocUnsafe(size);
  kept ??= Buffer.allocUnsafeSlow(keptBytes);
  return kept.subarray(0, size);
}
