/**
 * Identity-based keys by Sakai and Kasahara, as in "Efficient ID-KEM based on the Sakai-Kasahara key construction"
 * (Chen, Cheng, Malone-Lee, Smart 2006; IEEE 1363.3; RFC 6508 is a relative). The identity is the attribute.
 */
import type { RandomBytes, Suite } from '@basa/masking';
import { ascii } from '@basa/masking';
import type { G1, G2, Group, Scalar } from '../group.ts';
import { WIDE_BYTES } from '../group.ts';
import { invertSecret } from '../invert-secret.ts';
import { attributeBytes } from '../policy.ts';
import { randomScalar } from '../random-scalar.ts';

export interface IdentityPublicKey {
  /** P = g1^z */
  readonly p: G1;
}

export interface IdentityMasterKey {
  readonly z: Scalar;
}

/** Made without randomness: the same attribute always gets the same key. */
export interface IdentityKey {
  readonly attribute: Uint8Array;
  /** d = g2^(1 / (z + H1(attribute))) */
  readonly d: G2;
}

export function identitySetup({ group, randomBytes }: { group: Group; randomBytes: RandomBytes }): {
  readonly publicKey: IdentityPublicKey;
  readonly masterKey: IdentityMasterKey;
} {
  const masterKey = { z: randomScalar(group, randomBytes) };
  return { publicKey: identityPublicKeyOf(masterKey, group), masterKey };
}

export function identityPublicKeyOf({ z }: IdentityMasterKey, { g1 }: Group): IdentityPublicKey {
  return { p: g1.multiplySecret(g1.generator, z) };
}

export function identityKeyGen(
  request: { readonly masterKey: IdentityMasterKey; readonly attribute: string | Uint8Array },
  { group, suite }: { readonly group: Group; readonly suite: Suite },
): IdentityKey {
  const { g2, scalars } = group;
  const attribute = attributeBytes(request.attribute).slice();
  const sum = scalars.add(request.masterKey.z, identityScalar(attribute, { group, suite }));
  if (scalars.isZero(sum)) throw new Error('this attribute is the negative of the master key'); // probability 2^-255
  const exponent = invertSecret(sum, group);
  const d = g2.multiplySecret(g2.generator, exponent);
  scalars.wipe(sum);
  scalars.wipe(exponent);
  return { attribute, d };
}

/** H1(attribute) */
export function identityScalar(attribute: Uint8Array, { group, suite }: { group: Group; suite: Suite }): Scalar {
  const wide = suite.hkdf({ secret: attribute, salt: IDENTITY_SALT, info: ascii('H1'), length: WIDE_BYTES });
  return group.scalars.reduce(wide);
}

export const IDENTITY_SALT = ascii('basa-abe-v1 identity');
