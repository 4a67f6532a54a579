/** An Ed25519 signer over noble, for browsers whose WebCrypto has no Ed25519. */
import type { Signer } from '@basa/masking';
import { ed25519 } from '@noble/curves/ed25519.js';

/** Keeps a copy of the key; the caller may wipe its 32 bytes. */
export function createWebSigner(secretKey: Uint8Array): Signer {
  const secret = secretKey.slice();
  return { publicKey: ed25519.getPublicKey(secret), sign: (message) => ed25519.sign(message, secret) };
}
