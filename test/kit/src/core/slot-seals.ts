/** Single seeds sealed to slot keys and opened again, synchronously; masking does this in batches. */
import {
  keysAtOnce,
  openWithPads,
  openWithSlotKeys,
  padOfShared,
  SLOT_KEY_BYTES,
  type SlotBinding,
  type SlotPart,
  type Suite,
  sealToSlots,
} from '@basa/masking';

/** The binding of a seed that one authority can open by itself. */
export function boundAlone(
  publicKey: Uint8Array,
  { salt, context }: Pick<SlotBinding, 'salt' | 'context'>,
  authority = 0,
): SlotBinding {
  return { parts: [{ authority, publicKey }], threshold: 1, salt, context };
}

export function sealedSeed(suite: Suite, seed: Uint8Array, binding: SlotBinding): Uint8Array {
  return keysAtOnce(suite, sealToSlots(suite, [{ seed, binding }]))[0] as Uint8Array;
}

/** Opens with secrets in the order of the parts; missing ones are left out. */
export function openedWithSecrets(
  suite: Suite,
  sealed: Uint8Array,
  secrets: readonly (Uint8Array | undefined)[],
  binding: SlotBinding,
): Uint8Array | undefined {
  return keysAtOnce(suite, openWithSlotKeys(suite, binding, secrets, [{ sealed, binding }]))?.[0];
}

export function openedWithPads(
  suite: Suite,
  sealed: Uint8Array,
  pads: readonly (Uint8Array | undefined)[],
  binding: SlotBinding,
): Uint8Array | undefined {
  const copies = pads.map((pad) => pad?.slice());
  return keysAtOnce(suite, openWithPads(suite, [{ sealed, binding, pads: copies }]))[0];
}

/** Computes the pad of one part with its secret. */
export function padFor(
  suite: Suite,
  sealed: Uint8Array,
  secret: Uint8Array,
  binding: SlotBinding,
  place = 0,
): Uint8Array | undefined {
  const r = sealed.subarray(0, SLOT_KEY_BYTES);
  const shared = suite.x25519(secret).agree(r);
  return shared && padOfShared(suite, shared, r, binding, binding.parts[place] as SlotPart);
}

/** Returns all sets of this many of the items. */
export function setsOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  if (size === 0) return [[]];
  return items.flatMap((item, n) => setsOf(items.slice(n + 1), size - 1).map((rest) => [item, ...rest]));
}
