/** Sealed seeds that the adversary saw, as functions that try a key on them. */
import { concatBytes, keysAtOnce, openWithSlotKeys, slotKeyOf } from '@basa/masking';
import { type EdgeUse, ENGINE, type Registration, type SealedBuffer, type Slot, selfContext } from '@basa/protocol';
import type { Sealings } from '@basa/simulator';
import { ALONE } from '../world/one-authority.ts';
import { unsafeSymbolicSuite as suite } from '../world/unsafe-symbolic-suite.ts';

/** Tries to open a sealed seed that was seen with a key. */
export type Opener = (key: Uint8Array) => Uint8Array | undefined;

export function edgeOpener(
  { sealing }: Sealings,
  buffer: SealedBuffer,
  slot: number,
  use: EdgeUse,
  sealed: Uint8Array,
): Opener {
  return (key) => sealing.edgeOpener(buffer, slot as Slot, [{ authority: ALONE, key }])?.(sealed, use);
}

/** With the key that the authority releases, or with the secret of the key that it was sealed to. */
export function selfOpener(
  { engine, sealing }: Sealings,
  buffer: SealedBuffer,
  registration: Registration,
  sealed: Uint8Array,
): Opener {
  const binding = {
    parts: [{ authority: ALONE, publicKey: slotKeyOf(buffer.slotKeys, 'self') }],
    threshold: 1,
    salt: buffer.ctx,
    context: selfContext(buffer.ctx, registration),
  };
  const withSecret = (key: Uint8Array) =>
    keysAtOnce(suite, openWithSlotKeys(suite, binding, [key], [{ sealed, binding }]))?.[0];
  return (key) =>
    sealing.openSelf(buffer, registration, sealed, [{ authority: ALONE, key }])?.seed ??
    (engine === ENGINE.slotKeys ? withSecret(key) : undefined);
}

/** A list of the server's own slot keys, with the secrets; the key of one slot stays the authority's. */
export function ownList(
  randomBytes: (length: number) => Uint8Array,
  { slotKeys }: SealedBuffer,
  kept: number,
): { readonly slotKeys: Uint8Array; readonly secrets: readonly Uint8Array[] } {
  const secrets = Array.from({ length: slotKeys.length / 32 }, () => randomBytes(32));
  const keys = secrets.map((secret, place) =>
    place === kept + 1 ? slotKeyOf(slotKeys, kept) : suite.x25519(secret).publicKey,
  );
  return { slotKeys: concatBytes(...keys), secrets };
}
