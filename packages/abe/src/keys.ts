/** The keys of the authority and of the users. Letters are the paper's (BSW07, 4.2), moved to a pairing of type 3. */

import { ascii, ByteWriter, concatBytes, type RandomBytes, type Suite } from '@basa/masking';
import {
  type G1,
  type G2,
  type Group,
  type GT,
  invertSecret,
  randomScalar,
  type Scalar,
  scalarFrom,
  WIDE_BYTES,
} from './group.ts';
import { attributeBytes } from './policy.ts';

/** PK. The paper's g is g1 and g2, which are fixed by the curve. */
export interface PublicKey {
  /** h = g1^beta */
  readonly h: G1;
  /** f = g2^(1/beta), from which BSW07 makes keys for fewer attributes. Here it shows that h and f belong together. */
  readonly f: G2;
  /** A = e(g1, g2)^alpha. g1^alpha or g2^alpha would open everything. */
  readonly a: GT;
}

/** MK. Deviates: the paper keeps g^alpha; alpha itself saves a multiplication per key. */
export interface MasterKey {
  readonly alpha: Scalar;
  readonly beta: Scalar;
  /** 1/beta, so that no key inverts a secret. */
  readonly betaInverse: Scalar;
}

/** SK for a set of attributes. */
export interface AttributeKey {
  /** D = g2^((alpha + r) / beta) */
  readonly d: G2;
  /** In the order of the attribute's bytes, each once. */
  readonly components: readonly KeyComponent[];
}

export interface KeyComponent {
  readonly attribute: Uint8Array;
  /** D_j = g1^r H(j)^r_j */
  readonly dj: G1;
  /** D'_j = g2^r_j */
  readonly djPrime: G2;
}

/** Ascending by bytes: the one order in which attributes are written and hashed. */
export function compareAttributes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export interface KeyPair {
  readonly publicKey: PublicKey;
  readonly masterKey: MasterKey;
}

export function setup({ group, randomBytes }: { group: Group; randomBytes: RandomBytes }): KeyPair {
  const [alpha, beta] = [randomScalar(group, randomBytes), randomScalar(group, randomBytes)];
  const masterKey = { alpha, beta, betaInverse: invertSecret(beta, group) };
  return { publicKey: publicKeyOf(masterKey, group), masterKey };
}

/** PK = (h = g1^beta, f = g2^(1/beta), A = e(g1, g2)^alpha) */
export function publicKeyOf({ alpha, beta, betaInverse }: MasterKey, group: Group): PublicKey {
  const { g1, g2 } = group;
  // e(g1^alpha, g2) keeps alpha in the constant-time multiplication; g1^alpha never leaves this line.
  const a = group.pairingProduct([{ g1: g1.multiplySecret(g1.generator, alpha), g2: g2.generator }]);
  const h = g1.multiplySecret(g1.generator, beta);
  const f = g2.multiplySecret(g2.generator, betaInverse);
  return { h, f, a };
}

/** Overwrites the secrets of an authority whose epoch has ended; nothing can be issued with them any more. */
export function wipeMasterKey(group: Group, { alpha, beta, betaInverse }: MasterKey): void {
  for (const scalar of [alpha, beta, betaInverse]) group.scalars.wipe(scalar);
}

// The source of r and r_j of a key: fresh randomness, or a PRF so that the same request gets the same key.

/**
 * 64 bytes for each scalar of a key. Both scalars depend on the whole set: two keys with the same r_j but different r
 * would reveal g1^(r - r'), and with it break the protection against collusion (docs/decisions/smaller-decisions.md).
 */
export interface KeyRandomness {
  /** For r, which ties the components of one key together. */
  forKey(attributes: readonly Uint8Array[]): Uint8Array;
  /** For r_j of one attribute of the set. */
  forAttribute(attribute: Uint8Array, attributes: readonly Uint8Array[]): Uint8Array;
}

export function freshKeyRandomness(randomBytes: RandomBytes): KeyRandomness {
  return { forKey: () => randomBytes(WIDE_BYTES), forAttribute: () => randomBytes(WIDE_BYTES) };
}

/**
 * HKDF as the PRF, with one label for r and one for r_j. The PRF key is as secret as the master key and must be used
 * with one master key only.
 */
export function prfKeyRandomness({ prfKey, suite }: { prfKey: Uint8Array; suite: Suite }): KeyRandomness {
  if (prfKey.length < 32) throw new RangeError(`a PRF key has at least 32 bytes, got ${prfKey.length}`);
  const prf = (label: string, attributes: readonly Uint8Array[], attribute: Uint8Array): Uint8Array =>
    suite.hkdf({
      secret: prfKey,
      salt: ascii('basa-abe-v1 key randomness'),
      info: concatBytes(ascii(label), suite.sha256(...attributes.map(withLength)), attribute),
      length: WIDE_BYTES,
    });
  return {
    forKey: (attributes) => prf('r ', attributes, new Uint8Array(0)),
    forAttribute: (attribute, attributes) => prf('rj', attributes, attribute),
  };
}

function withLength(attribute: Uint8Array): Uint8Array {
  return new ByteWriter().shortBytes(attribute).finish();
}

// KeyGen of BSW07 (4.2): a key for a set of attributes. Every multiplication is the constant-time one.

export const MAX_KEY_ATTRIBUTES = 1024;

export function keyGen(
  request: {
    readonly masterKey: MasterKey;
    readonly attributes: readonly (string | Uint8Array)[];
    readonly randomness: KeyRandomness;
  },
  { group }: { readonly group: Group },
): AttributeKey {
  const { masterKey, randomness } = request;
  const { g1, g2, scalars } = group;
  const attributes = canonicalSet(request.attributes);
  const r = scalarFrom(group, randomness.forKey(attributes));
  const alphaPlusR = scalars.add(masterKey.alpha, r);
  const exponent = scalars.multiply(alphaPlusR, masterKey.betaInverse);
  if (scalars.isZero(exponent)) throw new Error('the master key has been wiped');
  const d = g2.multiplySecret(g2.generator, exponent); // D = g2^((alpha + r) / beta)
  const gr = g1.multiplySecret(g1.generator, r);
  const components = attributes.map((attribute): KeyComponent => {
    const rj = scalarFrom(group, randomness.forAttribute(attribute, attributes));
    const dj = g1.add(gr, g1.multiplySecret(group.hashToG1(attribute), rj)); // D_j = g1^r H(j)^r_j
    const djPrime = g2.multiplySecret(g2.generator, rj); // D'_j = g2^r_j
    scalars.wipe(rj);
    return { attribute, dj, djPrime };
  });
  wipeAll(group, [r, alphaPlusR, exponent]);
  return { d, components };
}

/** Returns the set in its canonical order. A repeated attribute is a mistake of the caller. */
function canonicalSet(names: readonly (string | Uint8Array)[]): readonly Uint8Array[] {
  if (names.length === 0 || names.length > MAX_KEY_ATTRIBUTES) {
    throw new RangeError(`a key has 1 to ${MAX_KEY_ATTRIBUTES} attributes, got ${names.length}`);
  }
  const sorted = names.map((name) => attributeBytes(name).slice()).sort(compareAttributes);
  const repeated = sorted.find(
    (attribute, i) => i > 0 && compareAttributes(sorted[i - 1] as Uint8Array, attribute) === 0,
  );
  if (repeated !== undefined) throw new RangeError('an attribute is named twice');
  return sorted;
}

function wipeAll(group: Group, used: readonly Scalar[]): void {
  for (const scalar of used) group.scalars.wipe(scalar);
}

/**
 * True if every component opens ciphertexts for its attribute: the equation of decryption at s = 1, e(h, D) e(H(j), D'_j) e(-D_j, g2) = A.
 */
export function verifyKey({ publicKey, key }: { publicKey: PublicKey; key: AttributeKey }, group: Group): boolean {
  const { g1, g2, gt } = group;
  return key.components.every(({ attribute, dj, djPrime }) => {
    const product = group.pairingProduct([
      { g1: publicKey.h, g2: key.d },
      { g1: group.hashToG1(attribute), g2: djPrime },
      { g1: g1.negate(dj), g2: g2.generator },
    ]);
    return gt.equal(product, publicKey.a);
  });
}
