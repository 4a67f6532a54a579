/**
 * Slot keys: seeds sealed to X25519 keys that an authority publishes for the slots of one buffer.
 *
 *     e = HKDF(x, salt, "eph" c)    R = e * base    pad = HKDF(e * P, salt, "pad" a R P c)    sealed = R || (x xor pad)
 *
 * x is the seed, P the key it is sealed to, c the context, a the index of the authority, salt the name of the buffer. Whoever opens
 * recomputes R from x and compares it (Fujisaki-Okamoto): whether a sealed seed is good is then the same for everybody. The
 * seed must be 32 uniform bytes, for it is the only randomness.
 */
import { ascii, concatBytes, equalBytes } from './bytes.ts';
import { SEED_BYTES } from './keystream.ts';
import type { Suite, X25519Key } from './suite.ts';

/** R and the padded seed. */
export const SLOT_SEALED_BYTES = 64;
export const SLOT_KEY_BYTES = 32;

/** What a sealed seed is bound to. */
export interface SlotBinding {
  /** P. */
  readonly publicKey: Uint8Array;
  /** Names the buffer. */
  readonly salt: Uint8Array;
  /** c: what the seed is for, in this buffer. */
  readonly context: Uint8Array;
  /** a; 0 where there is one authority. */
  readonly authority: number;
}

const EPHEMERAL = ascii('eph');
const PAD = ascii('pad');

/** Undefined where P is no key. */
export function sealToSlot(suite: Suite, seed: Uint8Array, binding: SlotBinding): Uint8Array | undefined {
  const ephemeral = suite.x25519(slotEphemeral(suite, seed, binding));
  const shared = ephemeral.agree(binding.publicKey);
  return shared && sealWithShared(suite, seed, { shared, ephemeralKey: ephemeral.publicKey }, binding);
}

/** e, for whoever agrees on the keys elsewhere. */
export function slotEphemeral(suite: Suite, seed: Uint8Array, { salt, context }: SlotBinding): Uint8Array {
  if (seed.length !== SEED_BYTES) throw new RangeError(`seed must be ${SEED_BYTES} bytes, got ${seed.length}`);
  return suite.hkdf({ secret: seed, salt, info: concatBytes(EPHEMERAL, context), length: SLOT_KEY_BYTES });
}

/** With R and e * P, which is overwritten. */
export function sealWithShared(
  suite: Suite,
  seed: Uint8Array,
  { shared, ephemeralKey }: { readonly shared: Uint8Array; readonly ephemeralKey: Uint8Array },
  binding: SlotBinding,
): Uint8Array {
  const pad = padOfShared(suite, shared, ephemeralKey, binding);
  const sealed = concatBytes(ephemeralKey, xor(seed, pad));
  pad.fill(0);
  return sealed;
}

/** With the key of P. Undefined where the bytes were not sealed to it for this binding. */
export function openWithSlotKey(
  suite: Suite,
  sealed: Uint8Array,
  key: X25519Key,
  binding: SlotBinding,
): Uint8Array | undefined {
  const pad = slotPad(suite, sealed.subarray(0, SLOT_KEY_BYTES), key, binding);
  if (pad === undefined) return undefined;
  const seed = openWithPad(suite, sealed, pad, binding);
  pad.fill(0);
  return seed;
}

/** What opens one sealed seed and no other: the pad of its R. Undefined where R is no key. */
export function slotPad(
  suite: Suite,
  ephemeralKey: Uint8Array,
  key: X25519Key,
  binding: SlotBinding,
): Uint8Array | undefined {
  const shared = key.agree(ephemeralKey);
  return shared === undefined ? undefined : padOfShared(suite, shared, ephemeralKey, binding);
}

/** With the pad alone. Undefined where it is not the pad of these bytes for this binding. */
export function openWithPad(
  suite: Suite,
  sealed: Uint8Array,
  pad: Uint8Array,
  binding: SlotBinding,
): Uint8Array | undefined {
  const seed = unpadded(sealed, pad);
  if (seed === undefined) return undefined;
  const { publicKey } = suite.x25519(slotEphemeral(suite, seed, binding));
  if (equalBytes(publicKey, sealed.subarray(0, SLOT_KEY_BYTES))) return seed;
  seed.fill(0);
  return undefined;
}

/** What the pad gives; whether it is the seed shows when R is recomputed from it. */
export function unpadded(sealed: Uint8Array, pad: Uint8Array): Uint8Array | undefined {
  if (sealed.length !== SLOT_SEALED_BYTES || pad.length !== SEED_BYTES) return undefined;
  return xor(sealed.subarray(SLOT_KEY_BYTES), pad);
}

/** Overwrites the shared secret. */
export function padOfShared(
  suite: Suite,
  shared: Uint8Array,
  ephemeralKey: Uint8Array,
  binding: SlotBinding,
): Uint8Array {
  const { publicKey, salt, context, authority } = binding;
  const info = concatBytes(PAD, Uint8Array.of(authority), ephemeralKey, publicKey, context);
  const pad = suite.hkdf({ secret: shared, salt, info, length: SEED_BYTES });
  shared.fill(0);
  return pad;
}

function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length);
  for (let i = 0; i < a.length; i++) both[i] = (a[i] as number) ^ (b[i] as number);
  return both;
}
