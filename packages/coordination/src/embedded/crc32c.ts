// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78) for the journal: eight bytes a step, with a table for each of them.

/** tables[k * 256 + b]: what byte b does to the sum when k more bytes follow it. */
const tables = makeTables();

function makeTables(): Int32Array {
  const made = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    made[byte] = crc;
  }
  for (let i = 256; i < made.length; i++) {
    const previous = made[i - 256] as number;
    made[i] = (made[previous & 0xff] as number) ^ (previous >>> 8);
  }
  return made;
}

/** Of several pieces, as if they were one. */
export function crc32c(pieces: readonly Uint8Array[]): number {
  let crc = -1;
  for (const piece of pieces) crc = update(crc, piece);
  return (crc ^ -1) >>> 0;
}

function update(start: number, bytes: Uint8Array): number {
  let crc = start;
  let i = 0;
  const at = (table: number, index: number): number => tables[table * 256 + index] as number;
  for (; i + 8 <= bytes.length; i += 8) {
    crc ^=
      (bytes[i] as number) | ((bytes[i + 1] as number) << 8) | ((bytes[i + 2] as number) << 16) | ((bytes[i + 3] as number) << 24);
    crc =
      at(7, crc & 0xff) ^
      at(6, (crc >>> 8) & 0xff) ^
      at(5, (crc >>> 16) & 0xff) ^
      at(4, crc >>> 24) ^
      at(3, bytes[i + 4] as number) ^
      at(2, bytes[i + 5] as number) ^
      at(1, bytes[i + 6] as number) ^
      at(0, bytes[i + 7] as number);
  }
  for (; i < bytes.length; i++) crc = at(0, (crc ^ (bytes[i] as number)) & 0xff) ^ (crc >>> 8);
  return crc;
}
