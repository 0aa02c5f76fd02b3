// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78) for the journal. A table is fast enough here: a few megabytes at the start.

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

/** Of several pieces, as if they were one. */
export function crc32c(pieces: readonly Uint8Array[]): number {
  let crc = 0xffffffff;
  for (const piece of pieces) {
    for (let i = 0; i < piece.length; i++) crc = (table[(crc ^ (piece[i] as number)) & 0xff] as number) ^ (crc >>> 8);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
