/** The device's key in a browser: a non-extractable WebCrypto key, or noble's if WebCrypto has no Ed25519. */
import type { DeviceSigner } from '../device/device-store.ts';

/** The stored form in IndexedDB, which stores a key without showing it. */
export type KeptIdentity =
  | { readonly kind: 'webcrypto'; readonly privateKey: CryptoKey; readonly publicKey: Uint8Array }
  | { readonly kind: 'noble'; readonly secretKey: Uint8Array };

const ED25519 = 'Ed25519';

export async function createIdentity(): Promise<KeptIdentity> {
  try {
    const pair = (await crypto.subtle.generateKey(ED25519, false, ['sign', 'verify'])) as CryptoKeyPair;
    const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
    return { kind: 'webcrypto', privateKey: pair.privateKey, publicKey };
  } catch {
    return { kind: 'noble', secretKey: crypto.getRandomValues(new Uint8Array(32)) };
  }
}

export async function signerOf(identity: KeptIdentity): Promise<DeviceSigner> {
  if (identity.kind === 'noble') {
    const { createWebSigner } = await import('./cryptography.ts');
    return createWebSigner(identity.secretKey);
  }
  const { privateKey, publicKey } = identity;
  return {
    publicKey,
    sign: async (message) =>
      new Uint8Array(await crypto.subtle.sign(ED25519, privateKey, message as Uint8Array<ArrayBuffer>)),
  };
}
