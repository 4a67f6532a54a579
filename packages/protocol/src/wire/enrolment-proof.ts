/**
 * The token of a device, and what each authority sees of it. The application makes the token; an authority sees only the
 * proof for its own key, so that it can spend it at no other authority, and its owner registers the hash of the proof.
 */
import { ascii, type Suite } from '@basa/masking';

export const ENROLMENT_TOKEN_BYTES = 32;

const SALT = ascii('basa enrolment');

/** proof = HKDF-SHA-256(token, salt "basa enrolment", info = public key of the authority), 32 bytes. */
export function enrolmentProof(suite: Suite, token: Uint8Array, authorityKey: Uint8Array): Uint8Array {
  return suite.hkdf({ secret: token, salt: SALT, info: authorityKey, length: 32 });
}

/** The hash that the owner of this authority registers. */
export function enrolmentHash(suite: Suite, token: Uint8Array, authorityKey: Uint8Array): Uint8Array {
  return suite.sha256(enrolmentProof(suite, token, authorityKey));
}
