// Streams over TLS, opened by us.

import { type ConnectionOptions, connect, type SecureVersion } from 'node:tls';
import type { Network } from './network.ts';
import { openStream } from './node-network.ts';

export interface TlsConnectorOptions {
  /** Certificates that are trusted, in PEM; default those that Node brings along. */
  readonly trusted?: string | Buffer | readonly (string | Buffer)[];
  /** Our certificate and those that vouch for it, in PEM. */
  readonly certificate?: string | Buffer;
  /** Its key, in PEM. */
  readonly key?: string | Buffer;
  /** Certificate and key in one, as PKCS #12. */
  readonly keyStore?: Buffer;
  /** Of the key, or of the key store. */
  readonly password?: string;
  readonly oldestVersion?: SecureVersion;
  readonly newestVersion?: SecureVersion;
  /** As OpenSSL lists them. */
  readonly ciphers?: string;
  /** Whether the certificate must be made out to the host that is connected to. Default true. */
  readonly verifiesHost?: boolean;
}

export class TlsConnector implements Pick<Network, 'connect'> {
  readonly #options: TlsConnectorOptions;

  constructor(options: TlsConnectorOptions) {
    this.#options = options;
  }

  /** Rejects as NodeNetwork does, and when the peers do not come to trust each other. */
  connect: Network['connect'] = async (target, receiver) => {
    const { trusted, certificate, key, keyStore, password, oldestVersion, newestVersion, ciphers, verifiesHost } = this.#options;
    const options: ConnectionOptions & { readonly allowHalfOpen: boolean } = {
      host: target.host,
      port: target.port,
      allowHalfOpen: true,
      ...(trusted === undefined ? {} : { ca: trusted as string | Buffer | (string | Buffer)[] }),
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
      ...(keyStore === undefined ? {} : { pfx: keyStore }),
      ...(password === undefined ? {} : { passphrase: password }),
      ...(oldestVersion === undefined ? {} : { minVersion: oldestVersion }),
      ...(newestVersion === undefined ? {} : { maxVersion: newestVersion }),
      ...(ciphers === undefined ? {} : { ciphers }),
      ...(verifiesHost === false ? { checkServerIdentity: () => undefined } : {}),
    };
    return openStream(connect(options), 'secureConnect', target, receiver);
  };
}
