// Who a connection is for its server: what it proves before anything else is asked of it.

import type { Random, Timer } from '@odradek/runtime';
import type { ZooKeeperConnection } from './connection.ts';
import { answerDigestChallenge, type SaslCredentials } from './digest-md5.ts';
import { saslRequest } from './requests.ts';

/** Scheme `digest` with `user:password`, for one. */
export interface ZooKeeperAuth {
  readonly scheme: string;
  readonly auth: string | Uint8Array;
}

export interface Identity {
  readonly auth: readonly ZooKeeperAuth[];
  /** Who we are for SASL, which here is DIGEST-MD5. */
  readonly sasl: SaslCredentials | undefined;
}

/** Rejects with AuthFailed, or when the connection closes, which it does after `timeoutMs`. */
export async function authenticate(
  connection: ZooKeeperConnection,
  { auth: auths, sasl, timer, random }: Identity & { readonly timer: Timer; readonly random: Random },
  timeoutMs: number,
): Promise<void> {
  if (auths.length === 0 && sasl === undefined) return;
  const timeout = timer.schedule(timeoutMs, () => {
    connection.destroy(new Error(`${connection.server} has not answered an authentication within ${Math.round(timeoutMs)} ms`));
  });
  try {
    for (const { scheme, auth } of auths) {
      await connection.authenticate(scheme, typeof auth === 'string' ? Buffer.from(auth, 'utf8') : auth);
    }
    if (sasl !== undefined) {
      const challenge = await connection.ask(saslRequest(Buffer.alloc(0)));
      const { response, verify } = answerDigestChallenge(challenge, sasl, random.bytes(24).toString('base64'));
      verify(await connection.ask(saslRequest(response)));
    }
  } finally {
    timeout.cancel();
  }
}
