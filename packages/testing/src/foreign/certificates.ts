// Certificates for tests, made by OpenSSL: an authority, and what it has signed.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';

export interface SignedCertificate {
  readonly certificate: Buffer;
  readonly key: Buffer;
  /** Both in one file. */
  readonly path: string;
}

export class CertificateAuthority {
  readonly certificate: Buffer;
  readonly path: string;
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.path = join(directory, 'authority.pem');
    this.certificate = readFileSync(this.path);
  }

  /** Its files lie in the directory, which the caller removes. */
  static async create(directory: string, name = 'Test authority'): Promise<CertificateAuthority> {
    const files = ['-keyout', join(directory, 'authority.key'), '-out', join(directory, 'authority.pem')];
    await openssl(['req', '-x509', ...newKey, ...files, '-days', '2', '-subj', `/CN=${name}`]);
    return new CertificateAuthority(directory);
  }

  /** A certificate for a name, good for the hosts given as OpenSSL writes them: `IP:127.0.0.1`, `DNS:localhost`. */
  async sign(name: string, hosts: readonly string[] = []): Promise<SignedCertificate> {
    const file = (ending: string): string => join(this.#directory, `${name}.${ending}`);
    await openssl(['req', ...newKey, '-keyout', file('key'), '-out', file('csr'), '-subj', `/CN=${name}`]);
    writeFileSync(file('ext'), hosts.length === 0 ? '' : `subjectAltName=${hosts.join(',')}\n`);
    const authority = ['-CA', this.path, '-CAkey', join(this.#directory, 'authority.key'), '-CAcreateserial'];
    await openssl(['x509', '-req', '-in', file('csr'), ...authority, '-days', '2', '-extfile', file('ext'), '-out', file('crt')]);
    const certificate = readFileSync(file('crt'));
    const key = readFileSync(file('key'));
    writeFileSync(file('pem'), Buffer.concat([key, certificate]));
    return { certificate, key, path: file('pem') };
  }
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

async function openssl(args: readonly string[]): Promise<void> {
  await runCommand('openssl', args);
}
