/** Keys that change under load: the certificates of both services, the secret that seals the authority's vault, and the keys of epochs. */
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rotateVault } from '@basa/authority';
import type { Verdict } from '../trials/crash/verdict.ts';
import type { TrialInput } from '../trials/program.ts';
import { fingerprintOf, issueCertificate } from './certificates.ts';
import { Drill } from './drill.ts';

export interface RotationReport extends Verdict {
  readonly certificates: number;
  /** The number of keys that were sealed again with the vault. */
  readonly resealed: number;
  /** Epochs that the authority opened. */
  readonly epochs: number;
}

const EPOCHS = 3;
const LOOK_MS = 200;
const ROTATED = ['server', 'authority'] as const;

/** `folder` has the certificate authority that this process and its child processes trust. */
export function runRotation({ folder, ...input }: TrialInput & { readonly folder: string }): Promise<RotationReport> {
  const [server, tls] = ROTATED.map((name) => issueCertificate(folder, name));
  return Drill.run({ ...input, server: { ...server }, authority: { ...tls } }, async (drill) => ({
    certificates: await rotateCertificates(drill, folder),
    resealed: await rotateSecret(drill),
    epochs: await followEpochs(drill),
  }));
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
