// The addresses that quotas are for, in the form in which connections tell them.

/** The one way to write an address; undefined: it is none, though it may be the name of a host. */
export function plainAddress(text: string): string | undefined {
  if (!text.includes(':')) return isIpv4(text) ? text.split('.').map(Number).join('.') : undefined;
  if (!/^[\da-f:.]+$/i.test(text) || !URL.canParse(`http://[${text}]/`)) return undefined;
  const address = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(address);
  if (mapped === null) return address;
  const [high = 0, low = 0] = mapped.slice(1).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function isIpv4(text: string): boolean {
  return /^(\d{1,3}\.){3}\d{1,3}$/.test(text) && text.split('.').every((byte) => Number(byte) <= 255);
}
