/** A sum opens with the right seeds, and the sender of a wrong one is named. */
import { toHex } from '@basa/masking';
import {
  closeRequestOf,
  type OpeningInput,
  openingTerms,
  readSealedParts,
  type Slot,
  type StoredUpload,
  uploadLayout,
} from '@basa/protocol';
import { granted } from '@basa/simulator';
import { closed } from '@basa/testkit/core/at-close.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

/** A closed buffer of four slots, of which the second quit: its later neighbours' backups are needed. */
function atOpening() {
  const world = nodeFederation({ bufferSize: 4, minimum: 2, dimension: 6 });
  const devices = Array.from({ length: 4 }, () => world.device());
  for (const [n, device] of devices.entries()) granted(device.contribute(n === 1 ? 'key' : 'upload'));
  const ctx = devices[0]?.ctx as (typeof devices)[number]['ctx'];
  granted(world.server.freeze(ctx, 'stalled'));
  const request = granted(closeRequestOf(world.server.ports, world.server.buffer(ctx)));
  const { keys } = granted(closed(world, request));
  const buffer = world.server.buffer(ctx);
  const { sealing } = world.sealings;
  const uploadOf = (slot: Slot): StoredUpload => {
    const header = buffer.slots[slot]?.header as StoredUpload['header'];
    const body = world.server.bodies.get(`${toHex(ctx)}:${slot}`) as Uint8Array;
    return { header, ...readSealedParts(body, uploadLayout(buffer.descriptor, header, sealing)) };
  };
  const input: OpeningInput = {
    suite: world.server.ports.suite,
    sealing,
    buffer,
    keys: [{ authority: 0, keys }],
    deposits: world.server.deposits(ctx),
    uploadOf,
  };
  return { world, buffer, sealing, input, uploadOf };
}

describe('a sum with a slot left out', () => {
  it('opens with the backups of those after it and the edges of those before it', () => {
    const opening = openingTerms(atOpening().input);
    // Three self seeds, one edge to the slot that is left out, two backups of its edges.
    expect(opening.kind === 'opening' && opening.terms.map(({ sign }) => sign)).toEqual([-1, -1, -1, -1, 1, 1]);
  });

  it('names the user who made a backup of another seed than the committed one', () => {
    const { buffer, sealing, input, uploadOf } = atOpening();
    const slot = 2 as Slot;
    const use = { role: 'backup', joinTag: buffer.slots[slot]?.ticket.joinTag } as Parameters<
      typeof sealing.sealEdge
    >[2];
    const sealedBuffer = { ...buffer, slotKeys: new Uint8Array(0) };
    const other = sealing.sealEdge(sealedBuffer, 1 as Slot, use, new Uint8Array(32).fill(9));
    const lying = (of: Slot): StoredUpload => {
      const honest = uploadOf(of);
      return of === slot
        ? { ...honest, backups: honest.backups.map((backup, n) => (n === 1 ? other : backup)) }
        : honest;
    };
    expect(openingTerms({ ...input, uploadOf: lying })).toEqual({ kind: 'unopened', cheated: [2], unsure: [] });
    const andLast = (of: Slot) => (of === 3 ? { ...uploadOf(of), self: new Uint8Array(3) } : lying(of));
    expect(openingTerms({ ...input, uploadOf: andLast })).toMatchObject({ cheated: [2, 3] });
  });
});
