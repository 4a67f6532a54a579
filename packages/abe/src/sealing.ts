/** CP-ABE behind the ports of paper mode: the authority's `AttributeKeyIssuer` and the users' `SeedSealing`. */
import {
  type AttributeKeyIssuer,
  ascii,
  concatBytes,
  DecodeError,
  equalBytes,
  type RandomBytes,
  SEED_BYTES,
  type SeedSealing,
  type Suite,
} from '@basa/masking';
import { kemKey, openOnce, sealOnce, TAG_BYTES } from './ciphertext.ts';
import { decodeAttributeKey, encodeAttributeKey, encodeMasterKey, encodePublicKey } from './codec.ts';
import { type G1, G1_BYTES, type G2, G2_BYTES, type Group, randomScalar } from './group.ts';
import { keyGen, type MasterKey, type PublicKey, prfKeyRandomness, publicKeyOf, wipeMasterKey } from './keys.ts';
import { attributeBytes } from './policy.ts';

/** An issuer that can forget its secrets. */
export interface AbeIssuer extends AttributeKeyIssuer {
  /** Overwrites the master key and all that was derived from it; the issuer throws from now on. */
  wipe(): void;
}

const SALT = ascii('basa-abe-v1 issuer');
const KEY_BYTES = 32;

/** Takes the master key over: `wipe` overwrites it. The randomness of keys is derived from it, so it is the only secret to keep. */
export function abeIssuer(
  masterKey: MasterKey,
  { group, suite }: { readonly group: Group; readonly suite: Suite },
): AbeIssuer {
  const secret = encodeMasterKey(masterKey, group);
  const prfKey = suite.hkdf({ secret, salt: SALT, info: ascii('prf key'), length: KEY_BYTES });
  secret.fill(0);
  const randomness = prfKeyRandomness({ prfKey, suite });
  return {
    publicKey: encodePublicKey(publicKeyOf(masterKey, group), group),
    issue: (attribute) =>
      encodeAttributeKey(keyGen({ masterKey, attributes: [attribute], randomness }, { group }), group),
    wipe() {
      prfKey.fill(0);
      wipeMasterKey(group, masterKey);
    },
  };
}

// The ciphertext of one seed under a policy with one attribute. BASA sends thousands of them, so there is no header and no policy.
//
//     C(48) C_y(96) C'_y(48) seed and tag(48), 240 bytes

const HEADER_BYTES = G1_BYTES + G2_BYTES + G1_BYTES;
const SEALED_SEED_BYTES = HEADER_BYTES + SEED_BYTES + TAG_BYTES;

const SEED_LABEL = 'seed';

interface SeedTools {
  readonly group: Group;
  readonly suite: Suite;
}

function sealSeed(
  request: { publicKey: PublicKey; seed: Uint8Array; attribute: Uint8Array; context: Uint8Array },
  { group, suite, randomBytes }: SeedTools & { readonly randomBytes: RandomBytes },
): Uint8Array {
  const { publicKey, seed, attribute, context } = request;
  const { g1, g2, gt, scalars } = group;
  const s = randomScalar(group, randomBytes);
  const c = g1.multiply(publicKey.h, s); // C = h^s
  const cy = g2.multiply(g2.generator, s); // C_y = g2^s
  const cyPrime = g1.multiply(group.hashToG1(attribute), s); // C'_y = H(x)^s
  const secret = gt.encode(gt.power(publicKey.a, s)); // A^s
  scalars.wipe(s);
  const header = concatBytes(g1.encode(c), g2.encode(cy), g1.encode(cyPrime));
  const key = kemKey({ label: SEED_LABEL, secret, header, context }, suite);
  return concatBytes(header, sealOnce(key, seed, suite));
}

/** The parts of a key for one attribute that opening needs. */
interface SeedKey {
  readonly d: G2;
  readonly djPrime: G2;
  /** -D_j, so that its pairing divides. */
  readonly djNegated: G1;
}

/** Returns undefined if the bytes are malformed, or if key or context differ from those it was sealed for. */
function openSeed(
  request: { key: SeedKey; sealed: Uint8Array; context: Uint8Array },
  { group, suite }: SeedTools,
): Uint8Array | undefined {
  const { key, sealed, context } = request;
  if (sealed.length !== SEALED_SEED_BYTES) return undefined;
  const c = group.g1.decode(sealed.subarray(0, G1_BYTES));
  const cyPrime = group.g1.decode(sealed.subarray(G1_BYTES + G2_BYTES, HEADER_BYTES));
  const cy = group.g2.decode(sealed.subarray(G1_BYTES, G1_BYTES + G2_BYTES));
  if (c === undefined || cyPrime === undefined || cy === undefined) return undefined;
  // A^s = e(C, D) e(C'_y, D'_j) / e(D_j, C_y)
  const shared = group.pairingProduct([
    { g1: c, g2: key.d },
    { g1: cyPrime, g2: key.djPrime },
    { g1: key.djNegated, g2: cy },
  ]);
  const header = sealed.subarray(0, HEADER_BYTES);
  const kem = kemKey({ label: SEED_LABEL, secret: group.gt.encode(shared), header, context }, suite);
  return openOnce(kem, sealed.subarray(HEADER_BYTES), suite);
}

/** A sealing that keeps the last attribute key decoded, since one key opens many seeds. */
export interface CachedSealing extends SeedSealing {
  /** Drops that key. */
  forget(): void;
}

/**
 * Seals seeds to the holder of the key of one attribute. `open` returns undefined for anything a hostile sender may
 * have made; an `attributeKey` that does not encode a key for one attribute is a fault of its issuer and throws a
 * `DecodeError`.
 */
export function abeSealing(tools: {
  readonly publicKey: PublicKey;
  readonly group: Group;
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
}): CachedSealing {
  const { publicKey, group } = tools;
  let last: { readonly attributeKey: Uint8Array; readonly key: SeedKey } | undefined;
  const forget = (): void => {
    last?.attributeKey.fill(0);
    last = undefined;
  };
  const decoded = (attributeKey: Uint8Array): SeedKey => {
    if (last !== undefined && equalBytes(last.attributeKey, attributeKey)) return last.key;
    const key = decodeSeedKey(attributeKey, group);
    forget();
    last = { attributeKey: attributeKey.slice(), key };
    return key;
  };
  return {
    name: `cp-abe (BSW07, ${group.name})`,
    sealedBytes: SEALED_SEED_BYTES,
    seal(seed, attribute, context) {
      checkSeed(seed);
      attributeBytes(attribute);
      return sealSeed({ publicKey, seed, attribute, context }, tools);
    },
    open: (sealed, attributeKey, context) => openSeed({ key: decoded(attributeKey), sealed, context }, tools),
    forget,
  };
}

/** Throws a `DecodeError` if the bytes are not a key for one attribute. */
function decodeSeedKey(attributeKey: Uint8Array, group: Group): SeedKey {
  const { d, components } = decodeAttributeKey(attributeKey, group);
  const [component] = components;
  if (component === undefined || components.length > 1) throw new DecodeError('count', 'not a key for one attribute');
  return { d, djPrime: component.djPrime, djNegated: group.g1.negate(component.dj) };
}

function checkSeed(seed: Uint8Array): void {
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes, got ${seed.length}`);
}

/** Runs the code of opening often enough for the engine to compile it well. */
export function warmUpPairing(group: Group): void {
  const { g1, g2 } = group;
  const [p, q] = [g1.encode(g1.generator), g2.encode(g2.generator)];
  for (let i = 0; i < 3; i++) {
    const pair = { g1: g1.decode(p) ?? g1.generator, g2: g2.decode(q) ?? g2.generator };
    group.pairingProduct([pair, pair, pair]);
  }
}
