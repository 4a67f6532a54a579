/** CP-ABE as in the paper. Only this entry of the package loads the pairing library, with its first contribution. */
import { abeSealing, type CachedSealing, createMclGroup, decodePublicKey, type Group, warmUpPairing } from '@basa/abe';
import { equalBytes, type SeedSealing } from '@basa/masking';
import type { Outside } from '../outside.ts';

/** One instance of mcl per thread is enough. */
let loading: Promise<Group> | undefined;
let current: { readonly publicKey: Uint8Array; readonly sealing: CachedSealing } | undefined;

async function load(): Promise<Group> {
  const group = await createMclGroup();
  warmUpPairing(group); // a cold process is several times slower
  return group;
}

export interface PaperSealings {
  /** Throws a `DecodeError` for an invalid key. */
  of(publicKey: Uint8Array): SeedSealing;
  /** Drops the key of the position, which has opened everything it will. */
  forget(): void;
}

export async function loadPaperSealings({ suite, randomBytes }: Outside): Promise<PaperSealings> {
  loading ??= load();
  const group = await loading;
  return {
    of(publicKey) {
      if (current !== undefined && equalBytes(current.publicKey, publicKey)) return current.sealing;
      const sealing = abeSealing({ publicKey: decodePublicKey(publicKey, group), group, suite, randomBytes });
      current?.sealing.forget();
      current = { publicKey, sealing };
      return sealing;
    },
    forget: () => current?.sealing.forget(),
  };
}
