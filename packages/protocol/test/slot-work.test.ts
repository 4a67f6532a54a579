/** Slot keys through the platform's asynchronous X25519: the same bytes and the same verdicts as at once. */

import {
  allSteps,
  type Ctx,
  doSealing,
  type JoinTag,
  type Registration,
  type SealingWork,
  type Slot,
  slotWork,
  type TaskId,
} from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { createWebX25519, webSuite } from '@basa/runtime/web';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
import { describe, expect, it } from 'vitest';

const { issuer, sealing } = slotKeySealings();
const source = { task: nodeRandomBytes(32) as TaskId, offer: nodeRandomBytes(16), bufferSize: 4 };
const descriptor = {
  threshold: 1,
  bufferSize: 4,
  parts: [{ authority: 0, offer: source.offer, sealingKey: new Uint8Array() }],
};
const buffer = { ctx: nodeRandomBytes(32) as Ctx, descriptor, slotKeys: allSteps(issuer.slotKeys(source)) };
const keys = issuer.keysOf({ ctx: buffer.ctx, authority: 0, source });
const use = { role: 'edge', joinTag: nodeRandomBytes(32) as JoinTag } as const;
const curve = await createWebX25519();

describe('WebCrypto', () => {
  if (curve === undefined) throw new Error('this Node has no X25519 in WebCrypto');
  const work = slotWork(webSuite, curve);
  const [slot, registration] = [2 as Slot, nodeRandomBytes(32) as Registration];
  const seals: SealingWork = {
    kind: 'seal',
    buffer,
    seals: [
      { to: 1 as Slot, use, seed: nodeRandomBytes(32) },
      { to: slot, use: { ...use, role: 'backup' }, seed: nodeRandomBytes(32) },
      { to: 'self', registration, seed: nodeRandomBytes(32) },
    ],
  };

  it('seals to the same bytes', async () => {
    expect(await work(seals)).toEqual(doSealing(sealing, seals));
  });

  it('opens the seeds sealed to the slot, and nothing else', async () => {
    const seed = nodeRandomBytes(32);
    const sealed = sealing.sealEdge(buffer, slot, use, seed);
    const flipped = (at: number): Uint8Array => sealed.map((byte, n) => (n === at ? byte ^ 1 : byte));
    const entries = [sealed, flipped(3), flipped(40), new Uint8Array(64), new Uint8Array(63), new Uint8Array()].map(
      (bytes) => ({ sealed: bytes, use }),
    );
    const elsewhere = [{ sealed, use: { ...use, joinTag: nodeRandomBytes(32) as JoinTag } }];
    const open = (key: Uint8Array): SealingWork => ({
      kind: 'open',
      buffer,
      slot,
      keys: [{ authority: 0, key }],
      entries: [...entries, ...elsewhere],
    });
    const expected = [seed, ...Array<undefined>(6).fill(undefined)];
    expect(await work(open(keys.edge(slot)))).toEqual(expected);
    expect(doSealing(sealing, open(keys.edge(slot)))).toEqual(expected);
    for (const wrong of [keys.edge(1 as Slot), nodeRandomBytes(32), new Uint8Array(31)]) {
      expect(await work(open(wrong))).toBeUndefined();
      expect(doSealing(sealing, open(wrong))).toBeUndefined();
    }
  });
});
