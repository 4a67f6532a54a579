/** The operations of an engine in a fresh buffer, one call each, so that they can be timed. */
import type { RandomBytes } from '@basa/masking';
import {
  allSteps,
  type Ctx,
  type EdgeOpener,
  type JoinTag,
  type Registration,
  type Slot,
  type TaskId,
} from '@basa/protocol';
import type { Sealings } from './world.ts';

export interface SealingTrial {
  readonly sealedBytes: number;
  readonly keyBytes: number;
  readonly seal: () => void;
  readonly sealSelf: () => void;
  /** With a key that was decoded before. */
  readonly open: () => void;
  /** With the key of another slot each time, decoded again. */
  readonly openByNewKey: () => void;
  /** The key of a slot, at the authority. */
  readonly issue: () => void;
}

export function sealingTrial(
  { sealing, issuer }: Pick<Sealings, 'sealing' | 'issuer'>,
  bufferSize: number,
  randomBytes: RandomBytes,
): SealingTrial {
  const [ctx, authority] = [randomBytes(32) as Ctx, 0];
  const source = { task: randomBytes(32) as TaskId, offer: randomBytes(16), bufferSize };
  const slotKeys = allSteps(issuer.slotKeys(source));
  const part = { authority, offer: source.offer, sealingKey: issuer.sealingKey(slotKeys) };
  const buffer = { ctx, descriptor: { bufferSize, threshold: 1, parts: [part] }, slotKeys };
  const keys = issuer.keysOf({ ctx, authority, source });
  const use = { role: 'edge', joinTag: randomBytes(32) as JoinTag } as const;
  const [seed, registration] = [randomBytes(32), randomBytes(32) as Registration];
  const openerOf = (slot: Slot, key: Uint8Array): EdgeOpener => {
    const open = sealing.edgeOpener(buffer, slot, [{ authority, key }]);
    if (open === undefined) throw new Error(`${sealing.name}: a key does not fit its slot`);
    return open;
  };
  const expectOpened = (opened: Uint8Array | undefined): void => {
    if (opened === undefined) throw new Error(`${sealing.name}: a seed did not open`);
  };
  const slots = Array.from({ length: bufferSize }, (_, position) => {
    const slot = position as Slot;
    return { slot, key: keys.edge(slot), sealed: sealing.sealEdge(buffer, slot, use, seed) };
  });
  const last = slots.at(-1);
  if (last === undefined) throw new RangeError('a buffer has slots');
  const open = openerOf(last.slot, last.key);
  let turn = 0;
  return {
    sealedBytes: last.sealed.length,
    keyBytes: last.key.length,
    seal: () => void sealing.sealEdge(buffer, last.slot, use, seed),
    sealSelf: () => void sealing.sealSelf(buffer, registration, seed),
    open: () => expectOpened(open(last.sealed, use)),
    openByNewKey() {
      const { slot, key, sealed } = slots[turn++ % bufferSize] as (typeof slots)[number];
      expectOpened(openerOf(slot, key)(sealed, use));
    },
    issue: () => void keys.edge(last.slot),
  };
}
