// The mechanisms of SCRAM (RFC 5802, RFC 7677) and the credentials that a broker keeps for them: never the password, only what
// proves that somebody else knows it. Text form, as Apache Kafka writes it:
//
//   salt=BASE64,stored_key=BASE64,server_key=BASE64,iterations=NUMBER

import { createHmac, hash } from 'node:crypto';

export interface ScramMechanism {
  /** Its number in requests. */
  readonly type: number;
  /** For SASL, and as a key of the user's configs. */
  readonly name: string;
  readonly hash: string;
}

export const scramMechanisms: readonly ScramMechanism[] = [
  { type: 1, name: 'SCRAM-SHA-256', hash: 'sha256' },
  { type: 2, name: 'SCRAM-SHA-512', hash: 'sha512' },
];

/** Kafka's bounds, for both mechanisms: fewer protect nothing, more let a client keep a broker busy. */
export const minScramIterations = 4096;
export const maxScramIterations = 16_384;

export interface ScramCredential {
  readonly salt: Buffer;
  /** The hash of the client's key, which a proof can be checked against. */
  readonly storedKey: Buffer;
  /** Signs the server's last word. */
  readonly serverKey: Buffer;
  readonly iterations: number;
}

/** The client has salted the password; the broker never sees it. */
export function scramCredential(
  mechanism: ScramMechanism,
  { salt, saltedPassword, iterations }: { readonly salt: Buffer; readonly saltedPassword: Buffer; readonly iterations: number },
): ScramCredential {
  const keyed = (text: string) => createHmac(mechanism.hash, saltedPassword).update(text).digest();
  return { salt, storedKey: hash(mechanism.hash, keyed('Client Key'), 'buffer'), serverKey: keyed('Server Key'), iterations };
}

export function printScramCredential({ salt, storedKey, serverKey, iterations }: ScramCredential): string {
  const [saltText, storedText, serverText] = [salt, storedKey, serverKey].map((bytes) => bytes.toString('base64'));
  return `salt=${saltText},stored_key=${storedText},server_key=${serverText},iterations=${iterations}`;
}

/** undefined: the text is no credential. */
export function parseScramCredential(text: string): ScramCredential | undefined {
  const fields = text.split(',').map((field) => /^([a-z_]+)=(.*)$/.exec(field.trim()));
  const values = new Map(fields.map((field) => [field?.[1], field?.[2]]));
  const bytes = (name: string): Buffer | undefined => {
    const value = values.get(name);
    return value !== undefined && /^[\w+/]*={0,2}$/.test(value) ? Buffer.from(value, 'base64') : undefined;
  };
  const [salt, storedKey, serverKey, iterations] = [
    bytes('salt'),
    bytes('stored_key'),
    bytes('server_key'),
    values.get('iterations'),
  ];
  if (salt === undefined || storedKey === undefined || serverKey === undefined) return undefined;
  if (fields.length !== 4 || iterations === undefined || !/^\d+$/.test(iterations)) return undefined;
  return { salt, storedKey, serverKey, iterations: Number(iterations) };
}
