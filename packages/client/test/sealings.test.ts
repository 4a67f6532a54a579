/** The client's cache of keys with which it opened seeds. */
import type { CachedSealing } from '@basa/abe';
import type { BufferPart, Ctx, JoinTag, Slot } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { abeSealings } from '@basa/virtual-time/real-sealings';
import { expect, it, vi } from 'vitest';
import { Sealings } from '../src/session/sealings.ts';

it('the CP-ABE key of a slot is forgotten once the inbox is open', async () => {
  const { engine, issuer, sealing } = abeSealings();
  const sealings = await Sealings.load({ suite: nodeSuite, randomBytes: nodeRandomBytes }, engine);
  const forget = vi.spyOn(sealings.attributes(issuer.publicKey) as CachedSealing, 'forget');
  const parts: BufferPart[] = [{ authority: 0, offer: new Uint8Array(16), sealingKey: issuer.publicKey }];
  const ctx = new Uint8Array(32).fill(1) as Ctx;
  const buffer = { ctx, slotKeys: new Uint8Array(), descriptor: { threshold: 1, bufferSize: 2, parts } };
  const use = { role: 'edge', joinTag: new Uint8Array(32) as JoinTag } as const;
  const [slot, seed] = [1 as Slot, nodeRandomBytes(32)];
  const source = { task: new Uint8Array(32), offer: new Uint8Array(16), bufferSize: 2 } as Parameters<
    typeof issuer.slotKeys
  >[0];
  const key = issuer.keysOf({ ctx, authority: 0, source }).edge(slot);
  const entries = [{ sealed: sealing.sealEdge(buffer, slot, use, seed), use }];
  const keys = [{ authority: 0, key }];
  expect(await sealings.work({ engine, parts }, { kind: 'open', buffer, slot, keys, entries })).toEqual([seed]);
  expect(forget).toHaveBeenCalled();
  sealings.destroy();
});
