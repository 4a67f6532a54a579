/** Opens the vault of a database and the signing key in it; the first start creates both. */
import type { RandomBytes, Signer } from '@basa/masking';
import { createNodeSigner } from '@basa/runtime/node';
import { StartError } from '@basa/service';
import type { AuthorityStore, StoredVault } from '../store/store.ts';
import { freshParameters, openVault, type Vault, type VaultSecret } from '../store/vault.ts';

/** The name under which the vault seals it. */
export const SIGNING_KEY = 'signing key';

export interface Unlocked {
  readonly vault: Vault;
  readonly signer: Signer;
}

export interface UnlockOptions {
  readonly secret: VaultSecret;
  readonly randomBytes: RandomBytes;
}

export async function unlock(store: AuthorityStore, options: UnlockOptions): Promise<Unlocked> {
  const stored = await store.transaction((tables) => tables.vault());
  if (stored !== undefined) {
    const { vault, seed } = openStored(store, stored, options);
    return { vault, signer: signerOf(seed) };
  }
  return createVault(store, options);
}

async function createVault(store: AuthorityStore, options: UnlockOptions): Promise<Unlocked> {
  const { secret, randomBytes } = options;
  const parameters = freshParameters(secret, randomBytes);
  const vault = openVault(secret, parameters, randomBytes);
  const seed = randomBytes(32);
  const signingKey = vault.seal(SIGNING_KEY, seed);
  await store.transaction((tables) => tables.createVault({ parameters, signingKey }));
  return { vault, signer: signerOf(seed) };
}

/** Opens the vault of a database, and the seed of the signing key in it. */
export function openStored(
  store: Pick<AuthorityStore, 'place'>,
  stored: StoredVault,
  { secret, randomBytes }: UnlockOptions,
): { readonly vault: Vault; readonly seed: Uint8Array } {
  const vault = openVault(secret, stored.parameters, randomBytes);
  const seed = vault.open(SIGNING_KEY, stored.signingKey);
  if (seed !== undefined) return { vault, seed };
  vault.wipe();
  const what = 'passphrase' in secret ? 'passphrase' : 'key file';
  throw new StartError(
    'keys',
    `the ${what} does not open the keys in ${store.place}, and nothing was changed; use the newest one that encrypted them`,
  );
}

/** Wipes the seed: the signer keeps the key in a key object, which does not print. */
function signerOf(seed: Uint8Array): Signer {
  const signer = createNodeSigner(seed);
  seed.fill(0);
  return signer;
}
