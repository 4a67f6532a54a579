/**
 * Seeds sealed to X25519 keys of several holders. Each of them can open one, and all of them find the same sealed seed good or bad.
 *
 *     e = HKDF(x, salt, "eph" c)    R = e * base    pad_a = HKDF(e * P_a, salt, "pad" a R P_a c)
 *     sealed = R || x xor pad_a for each holder
 *
 * x is the seed, P_a the key of holder a, c the context. A holder seals x again and compares R and every copy (Fujisaki-Okamoto). The seed
 * must be 32 uniform bytes, because it is the only randomness.
 */
import { ascii, concatBytes, equalBytes } from './bytes.ts';
import { AGREEMENT_KEY_BYTES, type KeyResult, type KeySteps } from './key-agreement.ts';
import { SEED_BYTES } from './keystream.ts';
import type { Suite } from './suite.ts';

/** R and a copy for each holder. */
export function holderSealedBytes(holders: number): number {
  return AGREEMENT_KEY_BYTES + SEED_BYTES * holders;
}

/** A holder that a seed is sealed to. */
export interface HolderKey {
  /** a: its index among all authorities of the task. */
  readonly authority: number;
  /** P_a. It must have passed `isAgreementKey`. */
  readonly publicKey: Uint8Array;
}

/** The values to which a sealed seed is bound. */
export interface HolderBinding {
  /** In the order of the copies. */
  readonly holders: readonly HolderKey[];
  readonly salt: Uint8Array;
  /** c: the purpose of the seed. */
  readonly context: Uint8Array;
}

export interface SeedToSeal<Binding extends HolderBinding = HolderBinding> {
  readonly seed: Uint8Array;
  readonly binding: Binding;
}

/** R and e * P_a for every holder, for each seed. */
export function* ephemeralKeys(suite: Suite, seeds: readonly SeedToSeal[]): KeySteps<readonly KeyResult[]> {
  const asked = seeds.map(({ seed, binding }) => ({
    secret: ephemeralOf(suite, seed, binding),
    peers: binding.holders.map(({ publicKey }) => publicKey),
  }));
  const results = yield asked;
  for (const { secret } of asked) secret.fill(0);
  return results;
}

/** Returns one sealed seed for each seed. The keys must have been checked. */
export function* sealToHolders(suite: Suite, seeds: readonly SeedToSeal[]): KeySteps<readonly Uint8Array[]> {
  const results = yield* ephemeralKeys(suite, seeds);
  return seeds.map(({ seed, binding }, n) => {
    const { publicKey, shared } = results[n] as KeyResult;
    const copies = binding.holders.map((holder, place) => {
      const agreed = shared[place];
      if (agreed === undefined) throw new Error('the keys that a seed is sealed to were not checked');
      return padded(seed, padOf(suite, agreed, publicKey, binding, holder));
    });
    return concatBytes(publicKey, ...copies);
  });
}

/**
 * With the secret key of the holder at this place. Undefined if the key is another, or if the bytes were not sealed to exactly these holders
 * for this binding.
 */
export function openAsHolder(
  suite: Suite,
  sealed: Uint8Array,
  binding: HolderBinding,
  place: number,
  secret: Uint8Array,
): Uint8Array | undefined {
  const holder = binding.holders[place];
  if (holder === undefined || sealed.length !== holderSealedBytes(binding.holders.length)) return undefined;
  const ephemeralKey = sealed.subarray(0, AGREEMENT_KEY_BYTES);
  const own = suite.x25519(secret);
  const agreed = own.agree(ephemeralKey);
  if (agreed === undefined || !equalBytes(own.publicKey, holder.publicKey)) return undefined;
  const seed = padded(copyOf(sealed, place), padOf(suite, agreed, ephemeralKey, binding, holder));
  if (isSealedAgain(suite, seed, sealed, binding, place)) return seed;
  seed.fill(0);
  return undefined;
}

/** The own copy follows from R; the others are computed again. */
function isSealedAgain(
  suite: Suite,
  seed: Uint8Array,
  sealed: Uint8Array,
  binding: HolderBinding,
  place: number,
): boolean {
  const secret = ephemeralOf(suite, seed, binding);
  const ephemeral = suite.x25519(secret);
  let isSame = equalBytes(ephemeral.publicKey, sealed.subarray(0, AGREEMENT_KEY_BYTES));
  for (const [other, holder] of binding.holders.entries()) {
    if (!isSame || other === place) continue;
    const agreed = ephemeral.agree(holder.publicKey);
    const copy = agreed && padded(seed, padOf(suite, agreed, ephemeral.publicKey, binding, holder));
    isSame = copy !== undefined && equalBytes(copy, copyOf(sealed, other));
  }
  secret.fill(0);
  return isSame;
}

const EPHEMERAL = ascii('eph');
const PAD = ascii('pad');

/** e. */
function ephemeralOf(
  suite: Suite,
  seed: Uint8Array,
  { salt, context }: Pick<HolderBinding, 'salt' | 'context'>,
): Uint8Array {
  if (seed.length !== SEED_BYTES) throw new RangeError(`seed must be ${SEED_BYTES} bytes, got ${seed.length}`);
  return suite.hkdf({ secret: seed, salt, info: concatBytes(EPHEMERAL, context), length: AGREEMENT_KEY_BYTES });
}

/** Overwrites the shared secret e * P_a. */
function padOf(
  suite: Suite,
  agreed: Uint8Array,
  ephemeralKey: Uint8Array,
  { salt, context }: Pick<HolderBinding, 'salt' | 'context'>,
  { authority, publicKey }: HolderKey,
): Uint8Array {
  const info = concatBytes(PAD, Uint8Array.of(authority), ephemeralKey, publicKey, context);
  const pad = suite.hkdf({ secret: agreed, salt, info, length: SEED_BYTES });
  agreed.fill(0);
  return pad;
}

function copyOf(sealed: Uint8Array, place: number): Uint8Array {
  const start = AGREEMENT_KEY_BYTES + SEED_BYTES * place;
  return sealed.subarray(start, start + SEED_BYTES);
}

/** bytes xor pad. Overwrites the pad. */
export function padded(bytes: Uint8Array, pad: Uint8Array): Uint8Array {
  const both = bytes.map((byte, i) => byte ^ (pad[i] as number));
  pad.fill(0);
  return both;
}
