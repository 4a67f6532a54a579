/** `npm run lab -- drill rotation`: certificates, vault and epoch keys change while devices work. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTrial } from '../trials/program.ts';
import { makeCertificateAuthority } from './certificates.ts';

const ABOUT = `Gives both services new certificates and the authority's vault a new secret, and lets key epochs pass, while devices contribute
over TLS. The certificates are made with openssl.`;

/** A process trusts a private certificate authority only if it is started with it, so this process starts itself again. */
const FOLDER = 'BASA_DRILL_FOLDER';
const folder = process.env[FOLDER];
if (folder !== undefined || process.argv.includes('--help')) {
  await runTrial({ name: 'drill rotation', about: ABOUT }, async (input) => {
    const { runRotation } = await import('./rotation.ts');
    return runRotation({ ...input, folder: folder ?? '' });
  });
} else {
  const made = makeCertificateAuthority();
  const environment = { ...process.env, [FOLDER]: made, NODE_EXTRA_CA_CERTS: join(made, 'ca.crt') };
  const drills = fileURLToPath(new URL('main.ts', import.meta.url));
  const words = [...process.execArgv, drills, 'rotation', ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, words, { env: environment, stdio: 'inherit' });
  rmSync(made, { recursive: true, force: true });
  process.exitCode = status ?? 1;
}
