/** Raw 32-byte keys of RFC 8410 curves as Node's key objects, and back. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

type Curve = 'ed25519' | 'x25519';

/** The names of RFC 8037. */
const JWK_CURVE = { ed25519: 'Ed25519', x25519: 'X25519' };
/** DER headers of PKCS #8, before the 32 raw bytes. */
const PKCS8_HEADER = { ed25519: '302e020100300506032b657004220420', x25519: '302e020100300506032b656e04220420' };

/** As a JWK: OpenSSL takes several times longer to read DER, about as long as it takes to verify a signature. */
export function publicKeyOf(curve: Curve, raw: Uint8Array): KeyObject {
  return publicKeyOfText(curve, textOf(raw));
}

function publicKeyOfText(curve: Curve, x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: JWK_CURVE[curve], x }, format: 'jwk' });
}

function textOf(raw: Uint8Array): string {
  return Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('base64url');
}

/** Devices and services send one signed request after the other: about as many keys as a server sees at a time. */
const MAX_VERIFIERS = 4096;
const verifiers = new Map<string, KeyObject>();

/** Returns the Ed25519 key and keeps it for the next signature under it: making it costs a notable part of a verification. */
export function verifierOf(raw: Uint8Array): KeyObject {
  const text = textOf(raw);
  const known = verifiers.get(text);
  if (known !== undefined) return known;
  const [oldest] = verifiers.keys();
  if (oldest !== undefined && verifiers.size >= MAX_VERIFIERS) verifiers.delete(oldest);
  const made = publicKeyOfText('ed25519', text);
  verifiers.set(text, made);
  return made;
}

export function privateKeyOf(curve: Curve, raw: Uint8Array): KeyObject {
  if (raw.length !== 32) throw new RangeError(`a private key has 32 bytes, got ${raw.length}`);
  return curve === 'x25519' && readsJwkSecrets() ? privateKeyOfJwk(raw) : privateKeyOfDer(curve, raw);
}

function privateKeyOfDer(curve: Curve, raw: Uint8Array): KeyObject {
  const key = Buffer.concat([Buffer.from(PKCS8_HEADER[curve], 'hex'), raw]);
  const object = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  key.fill(0);
  return object;
}

/**
 * Ten times as fast as DER. `x` must be present, but OpenSSL does not read it: it computes the public half from `d`.
 * The text of the secret cannot be overwritten; it lives until it is collected.
 */
function privateKeyOfJwk(raw: Uint8Array): KeyObject {
  return createPrivateKey({ key: { kty: 'OKP', crv: JWK_CURVE.x25519, d: textOf(raw), x: NO_X }, format: 'jwk' });
}

const NO_X = Buffer.alloc(32).toString('base64url');
let jwkSecretsAreRead: boolean | undefined;

/** True if this Node makes the same key from both forms. */
function readsJwkSecrets(): boolean {
  jwkSecretsAreRead ??= isSameKey(Uint8Array.from({ length: 32 }, (_, n) => n + 1));
  return jwkSecretsAreRead;
}

function isSameKey(secret: Uint8Array): boolean {
  try {
    return Buffer.from(rawPublicKey(privateKeyOfJwk(secret))).equals(rawPublicKey(privateKeyOfDer('x25519', secret)));
  } catch {
    return false;
  }
}

/** The public half, as raw bytes. */
export function rawPublicKey(key: KeyObject): Uint8Array {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x, 'base64url'));
}
