/**
 * Seeds sealed to two keys of each holder, X25519 and ML-KEM-768: a seed stays closed while either of the two is unbroken.
 *
 *     e = HKDF(x, salt, "eph" c)    R = e * base
 *     m_a = HKDF(x, salt, "kem" c a H(statement_a))    (k_a, ct_a) = Encaps_internal(ek_a, m_a)
 *     pad_a = HKDF(SHA3-256(k_a || e * P_a || R || P_a || label), salt, "pad" a H(ct_a) H(ek_a) c)
 *     sealed = R || (ct_a || x xor pad_a) for each holder
 *
 * x is the seed, c the context, P_a and ek_a the keys of holder a, statement_a the signed statement that names them, H SHA-256.
 * Encaps_internal is algorithm 17 of FIPS 203. The hash that combines both secrets, with its label, is taken from X-Wing
 * (draft-connolly-cfrg-xwing-kem). The rest of the format is our own.
 *
 * A holder opens its copy, seals the seed again and compares every byte, so that all holders find the same sealed seed good or bad
 * (Fujisaki-Okamoto). The seed must be 32 uniform bytes, because it is the only randomness. Deviates: m is derived from it, which the approved
 * interface of FIPS 203 does not allow.
 */
import { ascii, concatBytes, equalBytes } from './bytes.ts';
import { ephemeralKeys, type HolderBinding, type HolderKey, padded, type SeedToSeal } from './holder-sealing.ts';
import { KEM_CIPHERTEXT_BYTES } from './kem-key.ts';
import { AGREEMENT_KEY_BYTES, type KeyResult, type KeySteps, keysAtOnce } from './key-agreement.ts';
import { SEED_BYTES } from './keystream.ts';
import type { Kem, Suite } from './suite.ts';

/** A holder that a seed is sealed to, with both of its keys. */
export interface HybridHolder extends HolderKey {
  /** ek_a. It must have passed `isKemKey`. Missing in tasks that do not seal with ML-KEM. */
  readonly kemKey: Uint8Array | undefined;
  /** The hash of the statement that names both keys. */
  readonly statement: Uint8Array;
}

export interface HybridBinding extends HolderBinding {
  readonly holders: readonly HybridHolder[];
}

/** The secrets that belong to the keys of one holder. */
export interface HolderSecret {
  /** X25519. */
  readonly agreement: Uint8Array;
  /** dk of FIPS 203; undefined if the holder has no such key. */
  readonly decapsulation: Uint8Array | undefined;
}

const COPY_BYTES = KEM_CIPHERTEXT_BYTES + SEED_BYTES;

/** R and a copy for each holder. */
export function hybridSealedBytes(holders: number): number {
  return AGREEMENT_KEY_BYTES + COPY_BYTES * holders;
}

type HybridSeed = SeedToSeal<HybridBinding>;

/** One for each seed. The keys must have been checked. */
export function* sealToHybrid(suite: Suite, seeds: readonly HybridSeed[]): KeySteps<readonly Uint8Array[]> {
  const results = yield* ephemeralKeys(suite, seeds);
  return seeds.map((one, n) => {
    const { publicKey, shared } = results[n] as KeyResult;
    const copies = one.binding.holders.map((holder, place) => copyFor(suite, one, holder, publicKey, shared[place]));
    return concatBytes(publicKey, ...copies);
  });
}

/** ct_a || x xor pad_a. */
function copyFor(
  suite: Suite,
  { seed, binding }: HybridSeed,
  holder: HybridHolder,
  ephemeralKey: Uint8Array,
  agreed: Uint8Array | undefined,
): Uint8Array {
  const { kemKey } = holder;
  if (agreed === undefined || kemKey === undefined)
    throw new Error('the keys that a seed is sealed to were not checked');
  const randomness = kemRandomness(suite, seed, binding, holder);
  const { ciphertext, shared } = kemOf(suite).encapsulate(kemKey, randomness);
  randomness.fill(0);
  const pad = padOf(suite, binding, holder, { shared, agreed, ephemeralKey, ciphertext, kemKey });
  return concatBytes(ciphertext, padded(seed, pad));
}

/**
 * With the secrets of the holder at this place. Undefined if the bytes were not sealed to exactly these holders for this binding:
 * there is no other way to fail.
 */
export function openHybrid(
  suite: Suite,
  sealed: Uint8Array,
  binding: HybridBinding,
  place: number,
  secret: HolderSecret,
): Uint8Array | undefined {
  if (sealed.length !== hybridSealedBytes(binding.holders.length)) return undefined;
  const seed = candidateOf(suite, sealed, binding, place, secret);
  if (seed === undefined) return undefined;
  const [again] = keysAtOnce(suite, sealToHybrid(suite, [{ seed, binding }]));
  if (equalBytes(again as Uint8Array, sealed)) return seed;
  seed.fill(0);
  return undefined;
}

/** The seed that the copy gives, whether it was sealed so or not. A bad ciphertext gives another one: ML-KEM rejects implicitly. */
function candidateOf(
  suite: Suite,
  sealed: Uint8Array,
  binding: HybridBinding,
  place: number,
  { agreement, decapsulation }: HolderSecret,
): Uint8Array | undefined {
  const ephemeralKey = sealed.subarray(0, AGREEMENT_KEY_BYTES);
  const start = AGREEMENT_KEY_BYTES + COPY_BYTES * place;
  const ciphertext = sealed.subarray(start, start + KEM_CIPHERTEXT_BYTES);
  const holder = binding.holders[place] as HybridHolder;
  const { kemKey } = holder;
  const agreed = suite.x25519(agreement).agree(ephemeralKey);
  if (agreed === undefined || decapsulation === undefined || kemKey === undefined) return undefined;
  const shared = kemOf(suite).decapsulate(decapsulation, ciphertext);
  const pad = padOf(suite, binding, holder, { shared, agreed, ephemeralKey, ciphertext, kemKey });
  return padded(sealed.subarray(start + KEM_CIPHERTEXT_BYTES, start + COPY_BYTES), pad);
}

interface Exchanged {
  /** k_a. */
  readonly shared: Uint8Array;
  /** e * P_a. */
  readonly agreed: Uint8Array;
  /** R. */
  readonly ephemeralKey: Uint8Array;
  readonly ciphertext: Uint8Array;
  readonly kemKey: Uint8Array;
}

const KEM = ascii('kem');
const PAD = ascii('pad');
/** X-Wing's. */
const LABEL = ascii('\\.//^\\');

/** m_a. */
function kemRandomness(
  suite: Suite,
  seed: Uint8Array,
  { salt, context }: HybridBinding,
  { authority, statement }: HybridHolder,
): Uint8Array {
  const info = concatBytes(KEM, context, Uint8Array.of(authority), statement);
  return suite.hkdf({ secret: seed, salt, info, length: SEED_BYTES });
}

/** Overwrites both shared secrets. */
function padOf(
  suite: Suite,
  { salt, context }: HybridBinding,
  { authority, publicKey }: HolderKey,
  { shared, agreed, ephemeralKey, ciphertext, kemKey }: Exchanged,
): Uint8Array {
  const secret = combineSecrets(kemOf(suite), { shared, agreed, ephemeralKey, publicKey });
  const info = concatBytes(PAD, Uint8Array.of(authority), suite.sha256(ciphertext), suite.sha256(kemKey), context);
  const pad = suite.hkdf({ secret, salt, info, length: SEED_BYTES });
  for (const used of [secret, shared, agreed]) used.fill(0);
  return pad;
}

/** SHA3-256(k || e * P || R || P || label): the combiner of X-Wing, with R in the place of its X25519 ciphertext. */
export function combineSecrets(
  kem: Pick<Kem, 'sha3'>,
  { shared, agreed, ephemeralKey, publicKey }: Omit<Exchanged, 'ciphertext' | 'kemKey'> & Pick<HolderKey, 'publicKey'>,
): Uint8Array {
  return kem.sha3(shared, agreed, ephemeralKey, publicKey, LABEL);
}

function kemOf({ kem }: Suite): Kem {
  if (kem === undefined) throw new Error('ML-KEM was not loaded for a task that seals with it');
  return kem;
}
