// SASL's DIGEST-MD5 (RFC 2831), the way to prove a name and a password to ZooKeeper without sending the password. The server sends a
// challenge, we answer it, and its last word proves that it knows the password too.

import { createHash } from 'node:crypto';
import { InvalidAnswerError } from './jute.ts';

export interface SaslCredentials {
  readonly username: string;
  readonly password: string;
}

/** What ZooKeeper's servers call themselves in this exchange, wherever they run. */
const digestUri = 'zookeeper/zk-sasl-md5';

export interface DigestAnswer {
  readonly response: Buffer;
  /** Throws InvalidAnswerError unless the server has proved that it knows the password. */
  readonly verify: (lastWord: Buffer) => void;
}

/** `clientNonce` is random and used once. Throws InvalidAnswerError when the challenge cannot be answered. */
export function answerDigestChallenge(
  challenge: Buffer,
  { username, password }: SaslCredentials,
  clientNonce: string,
): DigestAnswer {
  const asked = parseDirectives(challenge.toString('utf8'));
  const nonce = asked.get('nonce');
  if (nonce === undefined) throw new InvalidAnswerError('a SASL challenge without a nonce');
  const algorithm = asked.get('algorithm');
  if (algorithm !== 'md5-sess') throw new InvalidAnswerError(`a SASL challenge for the algorithm ${algorithm}`);
  const qualities = (asked.get('qop') ?? 'auth').split(',').map((quality) => quality.trim());
  if (!qualities.includes('auth')) throw new InvalidAnswerError(`a SASL challenge that wants ${qualities.join(' or ')}`);
  const realm = asked.get('realm') ?? '';
  const count = '00000001';

  const secret = md5(digestText(`${username}:${realm}:${password}`));
  const sessionKey = hex(md5(Buffer.concat([secret, Buffer.from(`:${nonce}:${clientNonce}`)])));
  const proof = (prefix: string): string =>
    hex(md5(`${sessionKey}:${nonce}:${count}:${clientNonce}:auth:${hex(md5(`${prefix}:${digestUri}`))}`));
  const response = [
    'charset=utf-8',
    `username=${quoted(username)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `nc=${count}`,
    `cnonce=${quoted(clientNonce)}`,
    `digest-uri=${quoted(digestUri)}`,
    'qop=auth',
    `response=${proof('AUTHENTICATE')}`,
  ].join(',');
  return {
    response: Buffer.from(response, 'utf8'),
    verify: (lastWord) => {
      if (parseDirectives(lastWord.toString('utf8')).get('rspauth') !== proof('')) {
        throw new InvalidAnswerError('the server does not know the password');
      }
    },
  };
}

/** `a=b,c="d \"e\""`. Of a directive that comes twice the first counts: the first realm is as good as any. */
function parseDirectives(text: string): Map<string, string> {
  const directives = new Map<string, string>();
  for (const [, name, quotedValue, value] of text.matchAll(/([a-zA-Z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^,\s]*))/g)) {
    if (!directives.has(name!)) directives.set(name!, quotedValue?.replace(/\\(.)/g, '$1') ?? value ?? '');
  }
  return directives;
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** What fits into ISO 8859-1 is hashed as that, for the sake of servers from before UTF-8. */
function digestText(text: string): Buffer {
  return Buffer.from(text, /^[\u0000-\u00ff]*$/.test(text) ? 'latin1' : 'utf8');
}

function md5(content: string | Buffer): Buffer {
  return createHash('md5').update(content).digest();
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}
