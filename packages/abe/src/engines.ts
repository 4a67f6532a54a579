/** The engines a task's policy can name by number, each as a sealing over the bytes of its public key. */
import type { RandomBytes, Suite } from '@basa/masking';
import type { Group } from './group.ts';
import { decodeIdentityPublicKey } from './identity/codec.ts';
import { IDENTITY_SEALED_BYTES } from './identity/kem.ts';
import { identitySealing } from './identity/sealing.ts';
import { decodePublicKey } from './key-codec.ts';
import type { CachedSealing } from './sealing.ts';
import { abeSealing } from './sealing.ts';
import { SEALED_SEED_BYTES } from './seed.ts';

const CP_ABE = 1;
const IDENTITY_KEM = 2;

/** Bytes of a sealed seed; undefined for an engine that is not one of ours. */
export function engineSealedBytes(engine: number): number | undefined {
  if (engine === CP_ABE) return SEALED_SEED_BYTES;
  return engine === IDENTITY_KEM ? IDENTITY_SEALED_BYTES : undefined;
}

/** Throws a `DecodeError` at a malformed public key, and a `RangeError` at an engine that is not one of ours. */
export function engineSealing(
  engine: number,
  publicKey: Uint8Array,
  tools: { readonly group: Group; readonly suite: Suite; readonly randomBytes: RandomBytes },
): CachedSealing {
  if (engine === CP_ABE) return abeSealing({ ...tools, publicKey: decodePublicKey(publicKey, tools.group) });
  if (engine === IDENTITY_KEM)
    return identitySealing({ ...tools, publicKey: decodeIdentityPublicKey(publicKey, tools.group) });
  throw new RangeError(`there is no engine ${engine}`);
}
