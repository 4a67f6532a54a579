/** A certificate authority of a drill, and certificates for 127.0.0.1 that take each other's place. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { MissingError } from '@basa/testkit/programs/missing.ts';

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

function openssl(folder: string, ...words: readonly string[]): void {
  try {
    execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new MissingError(
      'openssl is not there, and this drill makes certificates with it; install the package openssl',
    );
  }
}

/** A new folder with a certificate authority in `ca.crt`. */
export function makeCertificateAuthority(): string {
  const folder = mkdtempSync(join(tmpdir(), 'basa-drill-'));
  openssl(folder, 'req', '-x509', ...KEY, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=drill');
  return folder;
}

export interface TlsFiles {
  readonly tlsKeyFile: string;
  readonly tlsCertFile: string;
}

/** The first time and every time after: a new key and a certificate for it, in the same files. */
export function issueCertificate(folder: string, name: string): TlsFiles {
  const extensions = ['subjectAltName=IP:127.0.0.1,DNS:localhost', 'basicConstraints=critical,CA:FALSE'];
  const subject = ['-subj', `/CN=${name}`, ...extensions.flatMap((extension) => ['-addext', extension])];
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-days', '1'];
  openssl(folder, 'req', '-x509', ...KEY, ...signed, '-keyout', 'new.key', '-out', 'new.crt', ...subject);
  const [tlsKeyFile, tlsCertFile] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  copyFileSync(join(folder, 'new.key'), tlsKeyFile);
  copyFileSync(join(folder, 'new.crt'), tlsCertFile);
  return { tlsKeyFile, tlsCertFile };
}

/** The SHA-256 of the certificate that a service shows. */
export function fingerprintOf(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
