/** The key file of a stopped authority, the public key of the signing key that it opens, and the tasks in its log. */
import type { Line } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { type ConfigPlaces, StartError, wrongConfiguration } from '@basa/service';
import { openStored, signerOf } from '../keys/unlock.ts';
import { linesOf } from '../log/lines.ts';
import { openStore } from '../store/store.ts';
import { readAuthorityConfig } from './config.ts';
import { placesOf } from './create-authority.ts';

export interface SealingKey {
  readonly keyFile: string;
  readonly publicKey: Uint8Array;
  /** By the names of the tasks. */
  readonly lines: ReadonlyMap<string, Line>;
}

/** Throws if the authority runs on its data folder, or has a passphrase instead of a file. */
export async function sealingKeyOf(places: ConfigPlaces): Promise<SealingKey> {
  const options = readAuthorityConfig(places);
  const { secret } = options;
  if (!('keyFile' in secret))
    throw wrongConfiguration(
      'the keys are encrypted with a passphrase, so there is no key file; delete the data folder and its backups instead',
    );
  const store = await openStore(placesOf(options).place, { clock: options.clock });
  try {
    const stored = await store.transaction((tables) => tables.vault());
    if (stored === undefined) throw new StartError('dataFolder', `${store.place} has no keys; check dataFolder`);
    const { vault, seed } = openStored(store, stored, { secret, randomBytes: nodeRandomBytes });
    vault.wipe();
    const lines = await store.transaction(linesOf);
    return { keyFile: secret.keyFile, publicKey: signerOf(seed).publicKey, lines };
  } finally {
    await store.close();
  }
}
