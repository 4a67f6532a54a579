/** An Ed25519 signer over node:crypto. */
import { sign } from 'node:crypto';
import type { Signer } from '@basa/masking';
import { privateKeyOf, rawPublicKey } from './raw-keys.ts';

/** Keeps the key in a key object, which does not print; the caller may wipe its 32 bytes. */
export function createNodeSigner(secretKey: Uint8Array): Signer {
  const key = privateKeyOf('ed25519', secretKey);
  return {
    publicKey: rawPublicKey(key),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  };
}
