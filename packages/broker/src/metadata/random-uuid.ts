// Random uuids in Kafka's text form: 22 characters of URL-safe base64.

import type { Random } from '@odradek/runtime';

/** A version-4 uuid. None that begins with a dash, which tools would take for an option; the reserved ones, zero and one, are not of version 4. */
export function randomUuid(random: Random): string {
  for (;;) {
    const bytes = random.bytes(16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const text = bytes.toString('base64url');
    if (!text.startsWith('-')) return text;
  }
}
