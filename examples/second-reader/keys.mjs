// Ed25519 and X25519 of node:crypto with raw keys of 32 bytes, as the wire format has them.
// OpenSSL's check is strict in S and R. Keys are pinned or come from signed statements, so none is of small order by chance.
import { createPrivateKey, createPublicKey, diffieHellman, sign, verify } from 'node:crypto';

const ED25519 = 0x70;
const X25519 = 0x6e;
const spki = (curve) => Buffer.from([0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, curve, 3, 0x21, 0]);
const pkcs8 = (curve) => Buffer.from([0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, curve, 4, 0x22, 4, 0x20]);

const publicKey = (curve, raw) =>
  createPublicKey({ key: Buffer.concat([spki(curve), raw]), format: 'der', type: 'spki' });
const secretKey = (curve, raw) =>
  createPrivateKey({ key: Buffer.concat([pkcs8(curve), raw]), format: 'der', type: 'pkcs8' });
const rawPublic = (key) => key.export({ format: 'der', type: 'spki' }).subarray(-32);

/** A device's signing key, from 32 random bytes: its public half, and a function that signs. */
export function signingKey(secret) {
  const key = secretKey(ED25519, secret);
  return { publicKey: rawPublic(createPublicKey(key)), sign: (words) => sign(null, words, key) };
}

/** A missing signature is a bad one. */
export const isSigned = (key, words, signature) =>
  signature !== undefined && verify(null, words, publicKey(ED25519, key), signature);

/** scalar * base, with u = 9. */
export const x25519Public = (secret) => rawPublic(createPublicKey(secretKey(X25519, secret)));

/** secret * point; node:crypto throws where it is all zeros. */
export const x25519 = (secret, point) =>
  diffieHellman({ privateKey: secretKey(X25519, secret), publicKey: publicKey(X25519, point) });
