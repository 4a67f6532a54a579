/** Raw 32-byte keys of RFC 8410 curves as Node's key objects, and back. */
import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey } from 'node:crypto';

type Curve = 'ed25519' | 'x25519';

/** DER headers of SubjectPublicKeyInfo and PKCS #8, before the 32 raw bytes. */
const SPKI_HEADER = { ed25519: '302a300506032b6570032100', x25519: '302a300506032b656e032100' };
const PKCS8_HEADER = { ed25519: '302e020100300506032b657004220420', x25519: '302e020100300506032b656e04220420' };

export function publicKeyOf(curve: Curve, raw: Uint8Array): KeyObject {
  const key = Buffer.concat([Buffer.from(SPKI_HEADER[curve], 'hex'), raw]);
  return createPublicKey({ key, format: 'der', type: 'spki' });
}

export function privateKeyOf(curve: Curve, raw: Uint8Array): KeyObject {
  if (raw.length !== 32) throw new RangeError(`a private key has 32 bytes, got ${raw.length}`);
  const key = Buffer.concat([Buffer.from(PKCS8_HEADER[curve], 'hex'), raw]);
  const object = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  key.fill(0);
  return object;
}

/** The public half, as raw bytes. */
export function rawPublicKey(key: KeyObject): Uint8Array {
  return new Uint8Array(createPublicKey(key).export({ format: 'der', type: 'spki' })).slice(-32);
}
