/** An Ed25519 signer over noble, for browsers whose WebCrypto has no Ed25519. */
import { ed25519 } from '@noble/curves/ed25519.js';

/** Keeps a copy of the key; the caller may wipe its 32 bytes. */
export function createWebSigner(secretKey: Uint8Array): {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
} {
  const secret = secretKey.slice();
  return { publicKey: ed25519.getPublicKey(secret), sign: (message) => ed25519.sign(message, secret) };
}
