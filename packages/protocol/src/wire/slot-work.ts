/** Slot keys where agreeing on keys is asynchronous: the same bytes as `slot-sealing.ts`, with all seeds of a batch at a time. */
import type { SlotBinding, Suite } from '@basa/masking';
import {
  equalBytes,
  padOfShared,
  SLOT_KEY_BYTES,
  sealWithShared,
  slotEphemeral,
  slotKeyOf,
  unpadded,
} from '@basa/masking';
import { sealingContext, selfContext } from './naming.ts';
import type { OpenWork, Seal, SealingResult, SealingWork, SealWork } from './sealing-work.ts';
import { binding } from './slot-sealing.ts';

/** X25519 of the platform. */
export interface AsyncX25519 {
  /** The key object of 32 secret bytes, which are copied. */
  key(secretKey: Uint8Array): Promise<AsyncX25519Key>;
}

interface AsyncX25519Key {
  readonly publicKey: Uint8Array;
  /** Undefined where the peer's key is malformed or of small order. */
  agree(publicKey: Uint8Array): Promise<Uint8Array | undefined>;
}

/** Does what a contribution asks for. The list of the buffer must have been checked. */
export function slotWork(suite: Suite, curve: AsyncX25519): (work: SealingWork) => Promise<SealingResult> {
  return (work) => (work.kind === 'seal' ? sealAll(suite, curve, work) : openAll(suite, curve, work));
}

async function sealAll(suite: Suite, curve: AsyncX25519, { buffer, seals }: SealWork): Promise<SealingResult> {
  const one = async (seal: Seal): Promise<Uint8Array> => {
    const bound =
      seal.to === 'self'
        ? binding(buffer, 'self', selfContext(buffer.ctx, seal.registration))
        : binding(buffer, seal.to, sealingContext(buffer.ctx, seal.use.role, seal.use.joinTag, seal.to));
    const secret = slotEphemeral(suite, seal.seed, bound);
    const ephemeral = await curve.key(secret);
    secret.fill(0);
    const shared = await ephemeral.agree(bound.publicKey);
    if (shared === undefined) throw new Error('the list of slot keys was not checked');
    return sealWithShared(suite, seal.seed, { shared, ephemeralKey: ephemeral.publicKey }, bound);
  };
  return Promise.all(seals.map(one));
}

async function openAll(
  suite: Suite,
  curve: AsyncX25519,
  { buffer, slot, key: secret, entries }: OpenWork,
): Promise<SealingResult> {
  if (secret.length !== SLOT_KEY_BYTES) return undefined;
  const key = await curve.key(secret);
  if (!equalBytes(key.publicKey, slotKeyOf(buffer.slotKeys, slot))) return undefined;
  return Promise.all(
    entries.map(async ({ sealed, use }) => {
      const bound = binding(buffer, slot, sealingContext(buffer.ctx, use.role, use.joinTag, slot));
      const ephemeralKey = sealed.subarray(0, SLOT_KEY_BYTES);
      const shared = await key.agree(ephemeralKey);
      if (shared === undefined) return undefined;
      return checkedSeed(suite, curve, sealed, padOfShared(suite, shared, ephemeralKey, bound), bound);
    }),
  );
}

/** R is recomputed from the seed, as everybody does who opens it. */
async function checkedSeed(
  suite: Suite,
  curve: AsyncX25519,
  sealed: Uint8Array,
  pad: Uint8Array,
  bound: SlotBinding,
): Promise<Uint8Array | undefined> {
  const seed = unpadded(sealed, pad);
  pad.fill(0);
  if (seed === undefined) return undefined;
  const secret = slotEphemeral(suite, seed, bound);
  const { publicKey } = await curve.key(secret);
  secret.fill(0);
  if (equalBytes(publicKey, sealed.subarray(0, SLOT_KEY_BYTES))) return seed;
  seed.fill(0);
  return undefined;
}
