/**
 * Slot keys: seeds sealed to X25519 keys that authorities publish for the slots of one buffer. Any `threshold` of them open one.
 *
 *     a_k = HKDF(x, salt, "share" c k), k = 1 .. t - 1        x_a = x + a_1 (a + 1) + a_2 (a + 1)^2 + ..  over GF(2^8)
 *     e = HKDF(x, salt, "eph" c)    R = e * base    pad_a = HKDF(e * P_a, salt, "pad" a R P_a c)
 *     sealed = R || x_a xor pad_a for each authority
 *
 * x is the seed, P_a the key of authority a that it is sealed to, c the context, salt the name of the buffer. The opener deals
 * x again and compares R and every share (Fujisaki-Okamoto), so every set of authorities that opens a sealed seed comes to the
 * same verdict about it. The seed must be 32 uniform bytes, because it is the only randomness.
 *
 * Key agreements are requested as work, in batches: browsers compute them asynchronously, all others synchronously.
 */
import { ascii, concatBytes, equalBytes } from './bytes.ts';
import { SEED_BYTES } from './keystream.ts';
import { secretOf, shareAt } from './shamir.ts';
import type { Suite, X25519Key } from './suite.ts';

export const SLOT_KEY_BYTES = 32;

/** R and a padded share for each authority. */
export function slotSealedBytes(authorities: number): number {
  return SLOT_KEY_BYTES + SEED_BYTES * authorities;
}

/** An authority whose key a seed is sealed to. */
export interface SlotPart {
  /** a: its place among all authorities of the task. */
  readonly authority: number;
  /** P_a. */
  readonly publicKey: Uint8Array;
}

/** The values to which a sealed seed is bound. */
export interface SlotBinding {
  /** In the order of the padded shares. */
  readonly parts: readonly SlotPart[];
  /** t. */
  readonly threshold: number;
  /** Names the buffer. */
  readonly salt: Uint8Array;
  /** c: the purpose of the seed in this buffer. */
  readonly context: Uint8Array;
}

/** A secret key, and the peers it is to agree with. The secret may be overwritten once there is a result. */
export interface KeyWork {
  readonly secret: Uint8Array;
  readonly peers: readonly Uint8Array[];
}

export interface KeyResult {
  readonly publicKey: Uint8Array;
  /** One for each peer; undefined if its key is malformed or of small order. */
  readonly shared: readonly (Uint8Array | undefined)[];
}

/** Asks for one result for each work of a batch. */
export type KeySteps<Result> = Generator<readonly KeyWork[], Result, readonly KeyResult[]>;

/** Runs the steps with every agreement computed synchronously. `keys` holds existing key objects, by their secrets. */
export function keysAtOnce<Result>(
  suite: Pick<Suite, 'x25519'>,
  steps: KeySteps<Result>,
  keys: ReadonlyMap<Uint8Array, X25519Key> = new Map(),
): Result {
  const doWork = ({ secret, peers }: KeyWork): KeyResult => {
    const key = keys.get(secret) ?? suite.x25519(secret);
    return { publicKey: key.publicKey, shared: peers.map((peer) => key.agree(peer)) };
  };
  let next = steps.next();
  while (next.done !== true) next = steps.next(next.value.map(doWork));
  return next.value;
}

export interface SeedToSeal {
  readonly seed: Uint8Array;
  readonly binding: SlotBinding;
}

/** R and e * P_a for every part, for each seed. */
export function* ephemeralKeys(
  suite: Suite,
  seeds: readonly { readonly seed: Uint8Array; readonly binding: Omit<SlotBinding, 'threshold'> }[],
): KeySteps<readonly KeyResult[]> {
  const asked = seeds.map(({ seed, binding }) => ({
    secret: ephemeralOf(suite, seed, binding),
    peers: binding.parts.map(({ publicKey }) => publicKey),
  }));
  const results = yield asked;
  for (const { secret } of asked) secret.fill(0);
  return results;
}

/** Returns one sealed seed for each seed. The keys must have been checked. */
export function* sealToSlots(suite: Suite, seeds: readonly SeedToSeal[]): KeySteps<readonly Uint8Array[]> {
  const results = yield* ephemeralKeys(suite, seeds);
  return seeds.map(({ seed, binding }, n) => {
    const { publicKey, shared } = results[n] as KeyResult;
    const pads = shared.map((one, place) => {
      if (one === undefined) throw new Error('the keys that a seed is sealed to were not checked');
      return padOfShared(suite, one, publicKey, binding, binding.parts[place] as SlotPart);
    });
    const shares = dealt(suite, seed, binding);
    const sealed = concatBytes(publicKey, ...shares.map((share, place) => xor(share, pads[place] as Uint8Array)));
    for (const secret of [...pads, ...shares]) secret.fill(0);
    return sealed;
  });
}

export interface SealedForKeys {
  readonly sealed: Uint8Array;
  readonly binding: SlotBinding;
}

/**
 * Opens with secret keys, in the order of the parts. A key that is not the secret of its part does not count; there is
 * no result at all if fewer than `threshold` are left. Otherwise one result for each entry: the seed, or undefined if
 * the bytes were not sealed to these parts for this binding. All entries are sealed to the same parts.
 */
export function* openWithSlotKeys(
  suite: Suite,
  { parts, threshold }: Pick<SlotBinding, 'parts' | 'threshold'>,
  secrets: readonly (Uint8Array | undefined)[],
  entries: readonly SealedForKeys[],
): KeySteps<readonly (Uint8Array | undefined)[] | undefined> {
  const peers = entries.map(({ sealed }) => sealed.subarray(0, SLOT_KEY_BYTES));
  let left = parts.flatMap((_, place) => (secrets[place]?.length === SLOT_KEY_BYTES ? [place] : []));
  let places: readonly number[] = [];
  let results: readonly KeyResult[] = [];
  // Stops at the threshold: each further key would cost an agreement for every entry.
  while (places.length < threshold) {
    if (left.length < threshold) return undefined;
    const asked = left.slice(0, threshold);
    results = yield asked.map((place) => ({ secret: secrets[place] as Uint8Array, peers }));
    const own = (place: number, n: number): boolean =>
      equalBytes((results[n] as KeyResult).publicKey, (parts[place] as SlotPart).publicKey);
    places = asked.filter(own);
    const foreign = asked.filter((place) => !places.includes(place));
    left = left.filter((place) => !foreign.includes(place));
  }
  return yield* openWithPads(
    suite,
    entries.map(({ sealed, binding }, entry) => {
      const pads: (Uint8Array | undefined)[] = binding.parts.map(() => undefined);
      for (const [n, place] of places.entries()) {
        const shared = results[n]?.shared[entry];
        const part = binding.parts[place] as SlotPart;
        pads[place] = shared && padOfShared(suite, shared, peers[entry] as Uint8Array, binding, part);
      }
      return { sealed, binding, pads };
    }),
  );
}

export interface SealedWithPads extends SealedForKeys {
  /** In the order of the parts; at least `threshold` of them. They are overwritten. */
  readonly pads: readonly (Uint8Array | undefined)[];
}

/** Returns undefined if the pads do not belong to these bytes for this binding. */
export function* openWithPads(
  suite: Suite,
  entries: readonly SealedWithPads[],
): KeySteps<readonly (Uint8Array | undefined)[]> {
  const found = entries.map((entry) => candidateOf(suite, entry));
  const asked = found.flatMap((candidate) => (candidate === undefined ? [] : [candidate.work]));
  const results = yield asked;
  for (const { secret } of asked) secret.fill(0);
  let next = 0;
  return found.map((candidate, n) => {
    if (candidate === undefined) return undefined;
    const isGood = isDealtAgain(suite, entries[n] as SealedWithPads, candidate, results[next++] as KeyResult);
    for (const { share } of candidate.shares) share.fill(0);
    if (isGood) return candidate.seed;
    candidate.seed.fill(0);
    return undefined;
  });
}

/** The seed that the pads give, not yet checked, and the keys that are needed to check it. */
interface Candidate {
  readonly seed: Uint8Array;
  readonly shares: readonly { readonly place: number; readonly share: Uint8Array }[];
  readonly work: KeyWork;
}

function candidateOf(suite: Suite, { sealed, binding, pads }: SealedWithPads): Candidate | undefined {
  const { parts, threshold } = binding;
  const isLong = sealed.length === slotSealedBytes(parts.length) && pads.length === parts.length;
  if (!isLong || pads.some((pad) => pad !== undefined && pad.length !== SEED_BYTES)) return undefined;
  const shares = pads.flatMap((pad, place) =>
    pad === undefined ? [] : [{ place, share: xor(paddedShare(sealed, place), pad) }],
  );
  for (const pad of pads) pad?.fill(0);
  if (shares.length < threshold) return undefined;
  const points = shares
    .slice(0, threshold)
    .map(({ place, share }) => ({ point: pointOf(parts[place] as SlotPart), share }));
  const seed = secretOf(points);
  // The given pads follow from R; the others are computed again.
  const peers = parts.filter((_, place) => pads[place] === undefined).map(({ publicKey }) => publicKey);
  return { seed, shares, work: { secret: ephemeralOf(suite, seed, binding), peers } };
}

function isDealtAgain(
  suite: Suite,
  { sealed, binding, pads }: SealedWithPads,
  { seed, shares }: Candidate,
  { publicKey, shared }: KeyResult,
): boolean {
  if (!equalBytes(publicKey, sealed.subarray(0, SLOT_KEY_BYTES))) return false;
  const again = dealt(suite, seed, binding);
  let isSame = shares.every(({ place, share }) => equalBytes(share, again[place] as Uint8Array));
  let next = 0;
  for (const [place, part] of binding.parts.entries()) {
    if (pads[place] !== undefined) continue;
    const secret = shared[next++];
    if (secret === undefined) return false;
    const pad = padOfShared(suite, secret, publicKey, binding, part);
    isSame = equalBytes(xor(again[place] as Uint8Array, pad), paddedShare(sealed, place)) && isSame;
    pad.fill(0);
  }
  for (const share of again) share.fill(0);
  return isSame;
}

/** Returns the pad of its R, which opens a share of one sealed seed and no other. Overwrites the shared secret e * P_a. */
export function padOfShared(
  suite: Suite,
  shared: Uint8Array,
  ephemeralKey: Uint8Array,
  { salt, context }: Pick<SlotBinding, 'salt' | 'context'>,
  { authority, publicKey }: SlotPart,
): Uint8Array {
  const info = concatBytes(PAD, Uint8Array.of(authority), ephemeralKey, publicKey, context);
  const pad = suite.hkdf({ secret: shared, salt, info, length: SEED_BYTES });
  shared.fill(0);
  return pad;
}

const EPHEMERAL = ascii('eph');
const SHARE = ascii('share');
const PAD = ascii('pad');

/** e. */
function ephemeralOf(
  suite: Suite,
  seed: Uint8Array,
  { salt, context }: Pick<SlotBinding, 'salt' | 'context'>,
): Uint8Array {
  if (seed.length !== SEED_BYTES) throw new RangeError(`seed must be ${SEED_BYTES} bytes, got ${seed.length}`);
  return suite.hkdf({ secret: seed, salt, info: concatBytes(EPHEMERAL, context), length: SLOT_KEY_BYTES });
}

/** The shares of the parts, in their order. */
function dealt(
  suite: Suite,
  seed: Uint8Array,
  { parts, threshold, salt, context }: SlotBinding,
): readonly Uint8Array[] {
  const coefficients = Array.from({ length: threshold - 1 }, (_, n) =>
    suite.hkdf({ secret: seed, salt, info: concatBytes(SHARE, context, Uint8Array.of(n + 1)), length: SEED_BYTES }),
  );
  const shares = parts.map((part) => shareAt(seed, coefficients, pointOf(part)));
  for (const coefficient of coefficients) coefficient.fill(0);
  return shares;
}

/** Point zero belongs to the secret. */
function pointOf({ authority }: SlotPart): number {
  return authority + 1;
}

function paddedShare(sealed: Uint8Array, place: number): Uint8Array {
  const start = SLOT_KEY_BYTES + SEED_BYTES * place;
  return sealed.subarray(start, start + SEED_BYTES);
}

export function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length);
  for (let i = 0; i < a.length; i++) both[i] = (a[i] as number) ^ (b[i] as number);
  return both;
}
