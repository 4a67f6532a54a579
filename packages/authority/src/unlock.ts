/** Opens the vault of a data folder and the signing key in it; a new folder gets both. */
import type { RandomBytes, Signer } from '@basa/masking';
import { createNodeSigner } from '@basa/runtime/node';
import { StartError } from '@basa/service';
import type { AuthorityStore } from './store.ts';
import type { Vault, VaultSecret } from './vault.ts';
import { freshParameters, openVault } from './vault.ts';
import type { Witness } from './witness.ts';

const SIGNING_KEY = 'signing key';

export interface Unlocked {
  readonly vault: Vault;
  readonly signer: Signer;
  readonly isNew: boolean;
}

export interface UnlockOptions {
  readonly dataFolder: string;
  readonly secret: VaultSecret;
  readonly randomBytes: RandomBytes;
}

export function unlock(store: AuthorityStore, witness: Witness, options: UnlockOptions): Unlocked {
  const { dataFolder, secret, randomBytes } = options;
  const stored = store.vault();
  if (stored === undefined) {
    if (witness.read() !== undefined) {
      const sentence = `${dataFolder} is new, but there is the witness of an earlier authority`;
      throw new StartError('dataFolder', `${sentence}: restore its folder, or move the witness away to begin anew`);
    }
    return createVault(store, options);
  }
  const vault = openVault(secret, stored.parameters, randomBytes);
  const seed = vault.open(SIGNING_KEY, stored.signingKey);
  if (seed === undefined) {
    const what = 'passphrase' in secret ? 'passphrase' : 'key file';
    throw new StartError('keys', `the ${what} does not open the keys in ${dataFolder}; nothing was changed`);
  }
  return { vault, signer: signerOf(seed), isNew: false };
}

function createVault(store: AuthorityStore, { secret, randomBytes }: UnlockOptions): Unlocked {
  const parameters = freshParameters(secret, randomBytes);
  const vault = openVault(secret, parameters, randomBytes);
  const seed = randomBytes(32);
  const signingKey = vault.seal(SIGNING_KEY, seed);
  store.atomically(() => store.createVault({ parameters, signingKey }));
  return { vault, signer: signerOf(seed), isNew: true };
}

/** Wipes the seed: the signer keeps the key in a key object, which does not print. */
function signerOf(seed: Uint8Array): Signer {
  const signer = createNodeSigner(seed);
  seed.fill(0);
  return signer;
}
