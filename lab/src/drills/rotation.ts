/** Keys that change under load: the certificates of both services, the secret that seals the authority's vault, and the keys of epochs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { rotateVault } from '@basa/authority';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { Drill } from './drill.ts';

const EPOCHS = 3;
const LOOK_MS = 200;
const ROTATED = ['server', 'authority'] as const;
/** A process trusts a private certificate authority only if it is started with it, so this process starts itself again. */
const FOLDER = 'BASA_DRILL_FOLDER';

/** Counts the new certificates, the keys that were sealed again with the vault, and the epochs that the authority opened. */
export async function runRotation(say: (line: string) => void) {
  const folder = process.env[FOLDER];
  if (folder === undefined) return startedAgain();
  const [server, tls] = ROTATED.map((name) => issueCertificate(folder, name));
  const work = async (drill: Drill) => ({
    certificates: await rotateCertificates(drill, folder),
    resealed: await rotateSecret(drill),
    epochs: await followEpochs(drill),
  });
  return Drill.run(say, work, { server: { ...server }, authority: { ...tls } });
}

/** Ends this process with the result of the other. */
function startedAgain(): never {
  const made = makeCertificateAuthority();
  const environment = { ...process.env, [FOLDER]: made, NODE_EXTRA_CA_CERTS: join(made, 'ca.crt') };
  const words = [...process.execArgv, ...process.argv.slice(1, 2), 'rotation', ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, words, { env: environment, stdio: 'inherit' });
  rmSync(made, { recursive: true, force: true });
  process.exit(status ?? 1);
}

async function rotateCertificates(drill: Drill, folder: string): Promise<number> {
  for (const name of ROTATED) {
    const before = await fingerprintOf(drill.basa.urls[name]);
    issueCertificate(folder, name);
    await drill.restart(name);
    if ((await fingerprintOf(drill.basa.urls[name])) === before)
      throw new Error(`the ${name} shows its old certificate`);
    drill.say(`the ${name} has a new certificate`);
    await drill.versions(1);
  }
  return ROTATED.length;
}

async function rotateSecret(drill: Drill): Promise<number> {
  const { basa } = drill;
  const keyFile = join(basa.folder, 'authority-new.key');
  writeFileSync(keyFile, randomBytes(32), { mode: 0o600 });
  await basa.stop('authority');
  const { sealedKeys } = await rotateVault(basa.placesOf('authority'), { keyFile });
  await basa.start('authority').then(
    () => Promise.reject(new Error('the authority starts with its old key file')),
    () => drill.say('the authority refuses its old key file'),
  );
  basa.change({ authority: { keyFile } });
  await basa.start('authority');
  await drill.versions(1);
  drill.say(`the vault has a new secret; ${sealedKeys} keys were sealed again`);
  return sealedKeys;
}

/** Waits until the authority has opened this number of epochs. */
async function followEpochs(drill: Drill): Promise<number> {
  const { basa } = drill;
  const seen = new Set<string>();
  while (seen.size < EPOCHS) {
    for (const name of readdirSync(join(basa.folder, 'authority', 'units'))) seen.add(name);
    await sleep(LOOK_MS);
  }
  drill.say(`${EPOCHS} key epochs have been used`);
  return seen.size;
}

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
function makeCertificateAuthority(): string {
  const folder = mkdtempSync(join(tmpdir(), 'basa-drill-'));
  openssl(folder, 'req', '-x509', ...KEY, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=drill');
  return folder;
}

interface TlsFiles {
  readonly tlsKeyFile: string;
  readonly tlsCertFile: string;
}

/** The first time and every time after: a new key and a certificate for it, in the same files. */
function issueCertificate(folder: string, name: string): TlsFiles {
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
function fingerprintOf(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
